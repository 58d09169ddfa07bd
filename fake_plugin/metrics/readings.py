"""From the inventory, who holds what, and the time: a reading of every unit of hardware."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.reading import LOST, Holder, Reading
from fake_plugin.metrics import load
from fake_plugin.metrics.meter import Meter, Total
from fake_plugin.resources.inventory import Inventory

#: Who holds the device of a resource, by the names of both.
Holders: TypeAlias = Mapping[tuple[str, str], Holder]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A part of a card, or all of it where `partition` is None."""

    partition: Partition | None
    healthy: bool
    breakage: Breakage | None
    holders: tuple[Holder, ...]
    utilization: float


def take_readings(
    inventory: Inventory, holders: Holders, now: float, meter: Meter
) -> tuple[Reading, ...]:
    """Return one reading per whole card and one per partition, in the order of the plan.

    `now` is in seconds since the epoch. A unit is at work where a container holds one of its
    devices and nothing is wrong that would end the work. A card in partition mode that has no
    partition reads as a card.
    """
    look = _Look(inventory, holders, now)
    return tuple(
        reading
        for share in inventory.plan.shares
        for card in inventory.cards(share)
        for reading in _card_readings(card, look.units(card), now, meter)
    )


class _Look:
    """One look at a node: which units a card has, and what each does."""

    def __init__(self, inventory: Inventory, holders: Holders, now: float) -> None:
        self._board = inventory.board
        self._unhealthy = inventory.board.unhealthy()
        self._load = inventory.plan.load
        self._now = now
        self._partitions: dict[str, dict[str, Partition]] = {}
        self._holders: dict[str, dict[Holder, None]] = {}
        for resource in inventory.resources:
            for device in resource.devices:
                if device.partition:
                    parts = self._partitions.setdefault(device.card.uid, {})
                    parts[device.partition.uid] = device.partition
                if holder := holders.get((resource.name, device.id)):
                    self._holders.setdefault(device.unit, {})[holder] = None

    def units(self, card: Card) -> list[_Unit]:
        """Return the partitions of a card, or the one unit that is all of it."""
        parts = self._partitions.get(card.uid)
        return [self._unit(card, part) for part in (parts.values() if parts else (None,))]

    def _unit(self, card: Card, partition: Partition | None) -> _Unit:
        name = partition.uid if partition else card.uid
        breakage = self._board.breakage(name, card.uid)
        holders = tuple(self._holders.get(name, ()))
        works = holders and (breakage is None or breakage.is_ignored)
        base = self._load.get(card.pool, load.DEFAULT_LOAD) if works else 0.0
        return _Unit(
            partition,
            not {name, card.uid} & self._unhealthy,
            breakage,
            holders,
            load.utilization(base, name, self._now),
        )


def _card_readings(
    card: Card, units: Sequence[_Unit], now: float, meter: Meter
) -> Iterator[Reading]:
    busy = _busy(card, units)
    limit = card.model.power_watts if card.model else None
    lost = all(unit.breakage == LOST for unit in units)
    watts = None if limit is None or lost else load.power(limit, busy)
    total = meter.read(card.uid, now, watts, busy)
    for unit in units:
        if card.model is None or unit.breakage == LOST:
            yield _bare(card, unit)
        else:
            yield _whole(card, card.model, unit, _Sensors(watts, total, busy))


def _busy(card: Card, units: Sequence[_Unit]) -> float:
    """Return how busy a card is: its partitions count by their share of the cores."""
    slices = card.model.compute_slices if card.model else 0
    return sum(
        unit.utilization
        * (unit.partition.profile.compute / slices if unit.partition and slices else 1 / len(units))
        for unit in units
    )


@dataclass(frozen=True, slots=True)
class _Sensors:
    """What a card has one of, however it is cut up."""

    watts: float | None
    total: Total
    busy: float


def _bare(card: Card, unit: _Unit) -> Reading:
    """Return the reading of what has no sensors, or does not answer: health, and who holds it."""
    return Reading(
        card=card,
        partition=unit.partition,
        healthy=unit.healthy,
        breakage=unit.breakage,
        holders=unit.holders,
        utilization=unit.utilization,
        memory_used_mib=None,
        memory_total_mib=None,
        power_watts=None,
        energy_joules=None,
        temperature_celsius=None,
        memory_temperature_celsius=None,
    )


def _whole(card: Card, model: Accelerator, unit: _Unit, sensors: _Sensors) -> Reading:
    profile = unit.partition.profile if unit.partition else None
    memory = profile.memory_mib if profile else model.memory_mib
    clocks = load.CLOCKS[model.vendor]
    return replace(
        _bare(card, unit),
        memory_used_mib=None if memory is None else load.memory_used(memory, unit.utilization),
        memory_total_mib=memory,
        card_utilization=sensors.busy,
        memory_reserved_mib=None if memory is None else load.memory_reserved(memory),
        power_watts=sensors.watts,
        energy_joules=None if sensors.watts is None else sensors.total.joules,
        temperature_celsius=load.temperature(sensors.busy),
        memory_temperature_celsius=load.memory_temperature(sensors.busy),
        clock_mhz=load.clock(clocks, sensors.busy),
        memory_clock_mhz=clocks.memory,
        busy_seconds=sensors.total.busy_seconds,
    )
