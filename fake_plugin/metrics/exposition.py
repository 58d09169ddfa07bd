"""The text format of Prometheus, version 0.0.4.

Written here because the order of labels and the names of counters are the vendors': the client
library of Prometheus sorts the ones and appends `_total` to the others.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from fake_plugin.metrics.families import Family, Labels, Metric, Sample

_PIECE_LINES: Final = 256


def exposition(families: Iterable[Family]) -> Iterator[bytes]:
    """Return the text in pieces: that about 20 000 devices is never whole in memory.

    A family without samples is left out, as nothing is known of it.
    """
    for family in families:
        lines = (_line(family, sample) for sample in family.samples)
        head = _head(family.metric)
        while piece := list(islice(lines, _PIECE_LINES)):
            # A fleet can name a product with half of a character of two: better a mark than
            # no answer.
            yield "\n".join([*head, *piece, ""]).encode(errors="replace")
            head = []


def _head(metric: Metric) -> list[str]:
    return [
        f"# HELP {metric.name} {_escaped(metric.help)}",
        f"# TYPE {metric.name} {metric.type}",
    ]


def _line(family: Family, sample: Sample) -> str:
    labels = f"{{{_joined(sample.labels)}}}" if sample.labels else ""
    stamp = "" if sample.timestamp_ms is None else f" {sample.timestamp_ms}"
    return f"{family.metric.name}{labels} {_number(sample.value, family.decimals)}{stamp}"


def _joined(labels: Labels) -> str:
    return ",".join(f'{name}="{_escaped(value, quoted=True)}"' for name, value in labels)


def _escaped(text: str, *, quoted: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quoted else text


def _number(value: float, decimals: int | None) -> str:
    return repr(value) if decimals is None else f"{value:.{decimals}f}"
