"""One schema for the accelerators of all vendors: `accel_*`, in base units.

Each physical quantity is there once per device: that of a unit (a whole card or a partition) once
per unit, however many replicas stand for it, and what the sensors of a card tell once per card,
however it is cut up. So a sum over a node is what the node draws (dcgm-exporter issue #201). Where
one container holds all of a device its figures carry the names of the pod; where several share it
they carry none, and `accel_holder_share_ratio` says who, and which part to put down to each. What
is not known is left out, never 0, and never a number that stands for it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from fake_plugin.hardware.breakage import Kind
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.reading import Holder, Reading
from fake_plugin.metrics.families import Family, Labels, Metric, Sample, Type, only_holder
from fake_plugin.metrics.history import History

#: Both of NVIDIA's and AMD's memory figures count in 2^20 bytes here; Ascend's as well.
_MIB: Final = 2**20
#: The kinds of errors that begin at 0 for a vendor; others appear when they happen.
_KINDS: Final[dict[str, tuple[Kind, ...]]] = {
    "nvidia": ("xid", "ecc"),
    "amd": ("ecc",),
    "ascend": ("fault-code",),
}
#: What Ascend's exporter has no figure of.
_NO_ENERGY: Final = frozenset({"ascend"})

Value: TypeAlias = Callable[[Reading], float | None]


def _metric(name: str, kind: Type, text: str) -> Metric:
    return Metric(f"accel_{name}", kind, text)


def _bytes(mib: int | None) -> int | None:
    return None if mib is None else mib * _MIB


def _energy(reading: Reading) -> float | None:
    return None if _vendor(reading.card) in _NO_ENERGY else reading.energy_joules


#: What there is once per unit.
_UNIT: Final[tuple[tuple[Metric, Value], ...]] = (
    (
        _metric("utilization_ratio", "gauge", "How busy the unit is, 0 to 1."),
        lambda unit: None if unit.is_lost else unit.utilization,
    ),
    (
        _metric("memory_used_bytes", "gauge", "Memory of the unit in use."),
        lambda unit: _bytes(unit.memory_used_mib),
    ),
    (
        _metric("memory_total_bytes", "gauge", "Memory of the unit in all."),
        lambda unit: _bytes(unit.memory_total_mib),
    ),
    (
        _metric("healthy", "gauge", "1 where the plugin calls the unit healthy, else 0."),
        lambda unit: int(unit.healthy),
    ),
)
#: What there is once per card; the sensor where there are several of a kind.
_CARD: Final[tuple[tuple[Metric, tuple[tuple[str | None, Value], ...]], ...]] = (
    (
        _metric("power_watts", "gauge", "Power that the card draws."),
        ((None, lambda card: card.power_watts),),
    ),
    (
        _metric("energy_joules_total", "counter", "Energy that the card drew since the start."),
        ((None, _energy),),
    ),
    (
        _metric("temperature_celsius", "gauge", "Temperature at a sensor of the card."),
        (
            ("core", lambda card: card.temperature_celsius),
            ("memory", lambda card: card.memory_temperature_celsius),
        ),
    ),
)
_ERRORS: Final = _metric("errors_total", "counter", "Errors of the unit since the start, by kind.")
_SHARE: Final = _metric(
    "holder_share_ratio", "gauge", "The part of the unit's figures to put down to a holder."
)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A card with the readings of its units."""

    card: Card
    units: tuple[Reading, ...]

    @property
    def sensors(self) -> Reading:
        """Return a reading that has what the card's sensors tell, if one of them has."""
        return next((unit for unit in self.units if not unit.is_lost), self.units[0])

    @property
    def holder(self) -> Holder | None:
        """Return who alone holds all that is held of the card."""
        return only_holder(holder for unit in self.units for holder in unit.holders)


def families(readings: Sequence[Reading], history: History, node: str) -> Iterator[Family]:
    """Return the families of all accelerators, with or without a model."""
    cards = [_Whole(card, tuple(units)) for card, units in groupby(readings, lambda r: r.card)]
    for metric, value in _UNIT:
        yield Family(metric, _of_units(readings, value, node))
    for metric, sensors in _CARD:
        yield Family(metric, _of_cards(cards, sensors, node))
    yield Family(_ERRORS, _errors(cards, history, node))
    yield Family(_SHARE, _shares(readings, node))


def _of_units(units: Iterable[Reading], value: Value, node: str) -> Iterator[Sample]:
    for unit in units:
        if (figure := value(unit)) is not None:
            yield Sample(_labels(unit.card, _part(unit), node, only_holder(unit.holders)), figure)


def _of_cards(
    cards: Iterable[_Whole], sensors: tuple[tuple[str | None, Value], ...], node: str
) -> Iterator[Sample]:
    for whole in cards:
        labels = _labels(whole.card, "", node, whole.holder)
        for sensor, value in sensors:
            if (figure := value(whole.sensors)) is not None:
                yield Sample((*labels, *((("sensor", sensor),) if sensor else ())), figure)


def _errors(cards: Iterable[_Whole], history: History, node: str) -> Iterator[Sample]:
    for whole in cards:
        # AMD calls the first partition as it calls the card: its errors are the card's.
        card = whole.card.uid
        parts = {unit.unit: _part(unit) for unit in whole.units if unit.unit != card}
        for unit, part in {card: "", **parts}.items():
            counts = dict.fromkeys(() if part else _KINDS.get(_vendor(whole.card), ()), 0)
            for breakage, times in history.errors(unit).items():
                counts[breakage.kind] = counts.get(breakage.kind, 0) + times
            labels = _labels(whole.card, part, node, None)
            for kind, count in counts.items():
                yield Sample((*labels, ("kind", kind)), count)


def _shares(units: Iterable[Reading], node: str) -> Iterator[Sample]:
    for unit in units:
        shared = ("shared", "true" if len(unit.holders) > 1 else "false")
        for holder in unit.holders:
            labels = _labels(unit.card, _part(unit), node, holder)
            yield Sample((*labels, shared), 1 / len(unit.holders))


def _labels(card: Card, part: str, node: str, holder: Holder | None) -> Labels:
    return (
        ("vendor", _vendor(card)),
        ("model", card.model.name if card.model else ""),
        ("device_id", _device_id(card)),
        ("index", str(card.minor)),
        ("partition", part),
        ("node", node),
        ("namespace", holder.namespace if holder else ""),
        ("pod", holder.pod if holder else ""),
        ("container", holder.container if holder else ""),
    )


def _device_id(card: Card) -> str:
    """Return what the vendor's own metrics call the card, so that both can be joined.

    AMD has its serial number, and Ascend the number of the die.
    """
    return card.uid if _vendor(card) == "nvidia" else card.serial or card.uid


def _vendor(card: Card) -> str:
    return card.model.vendor if card.model else "generic"


def _part(unit: Reading) -> str:
    return unit.partition.uid if unit.partition else ""
