"""Metrics as values: a family has a name, a type, a help text and samples."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fake_plugin.hardware.reading import Holder

Type: TypeAlias = Literal["gauge", "counter"]
#: Names and values in the order in which they are written.
Labels: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a family; `timestamp_ms`, since the epoch, where the exporter gives it."""

    labels: Labels
    value: float
    timestamp_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What all samples of a family have in common: a name, a type, and help in one sentence."""

    name: str
    type: Type
    help: str


def gauge(name: str, text: str) -> Metric:
    """Return a metric that goes up and down."""
    return Metric(name, "gauge", text)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric with its samples, made as they are read, once.

    With `decimals`, every value is written with so many of them.
    """

    metric: Metric
    samples: Iterable[Sample]
    decimals: int | None = None


def only_holder(holders: Iterable[Holder]) -> Holder | None:
    """Return the one that holds all of something; None where it is nobody or several.

    What a device does as a whole is not put down to one of those who share it.
    """
    distinct = set(holders)
    return distinct.pop() if len(distinct) == 1 else None
