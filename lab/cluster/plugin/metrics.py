"""The metrics of a node, as Prometheus would have them."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """A figure of a series: the name of the metric, the labels that it has, and the value."""

    name: str
    labels: Mapping[str, str]
    value: float


def samples(content: bytes) -> tuple[Sample, ...]:
    """Return what an answer in the text format of Prometheus has, in its order.

    Raises ValueError for what is not in that format.
    """
    # Loading it takes a tenth of a second, and few ask.
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - see above

    # Told that a metric is a counter, the parser appends `_total` to a name without it, as are
    # many of NVIDIA's.
    lines = (line for line in content.decode().split("\n") if not line.startswith("# TYPE"))
    families = text_string_to_metric_families("\n".join(lines))
    return tuple(
        Sample(each.name, each.labels, each.value) for family in families for each in family.samples
    )
