"""The text format of Prometheus, version 0.0.4.

Written here because the order of labels and the names of counters are the vendors': the client
library of Prometheus sorts the ones and appends `_total` to the others.
"""

from collections.abc import Iterable
from typing import Final

from fake_plugin.metrics.families import Family, Labels, Sample

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def exposition(families: Iterable[Family]) -> bytes:
    """Return the text; a family without samples is left out, as nothing is known of it."""
    return b"".join(_text(family) for family in families if family.samples)


def _text(family: Family) -> bytes:
    metric = family.metric
    lines = [
        f"# HELP {metric.name} {_escaped(metric.help)}",
        f"# TYPE {metric.name} {metric.type}",
        *(_line(family, sample) for sample in family.samples),
        "",
    ]
    # A fleet can name a product with half of a character of two: better a mark than no answer.
    return "\n".join(lines).encode(errors="replace")


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
