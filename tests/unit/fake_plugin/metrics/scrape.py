"""What a Prometheus makes of an answer."""

from collections.abc import Iterable
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from fake_plugin.metrics.exposition import exposition
from fake_plugin.metrics.families import Family

#: What DCGM stands in for a value that it does not have (0x7ffffffffffffff0), and its neighbours.
LARGEST: Final = 9.2e18


def samples(families: Iterable[Family]) -> list[Sample]:
    """Return all samples of families, read back from their text."""
    text = exposition(families).decode()
    return [each for family in text_string_to_metric_families(text) for each in family.samples]


def values(families: Iterable[Family], name: str) -> list[float]:
    """Return the values of one metric; the parser calls every counter `…_total`."""
    spellings = {name, f"{name}_total"}
    return [each.value for each in samples(families) if each.name in spellings]


def names(families: Iterable[Family]) -> list[str]:
    """Return the names of the metrics that have a value, in order."""
    return [family.metric.name for family in families if family.samples]
