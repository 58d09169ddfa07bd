"""What the hardware of a node tells: per unit, following who holds it and what is wrong."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from fake_plugin.device import Device
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.reading import Holder, Reading
from fake_plugin.metrics.meter import Meter
from fake_plugin.metrics.readings import take_readings
from tests.unit.fake_plugin.metrics.fixtures import (
    H100,
    NOW,
    SLICE,
    UNKNOWN,
    Node,
    board,
    card,
    held,
    part,
    pod,
)


def whole(of: Card) -> Device:
    """Return the device that is all of a card."""
    return Device(of.uid, of)


def slices(of: Card, number: int) -> list[Device]:
    """Return devices that are a seventh of a card each."""
    parts = [part(of, index, SLICE) for index in range(number)]
    return [Device(each.uid, of, each) for each in parts]


def read(node: Node, *holding: str, at: float = NOW, meter: Meter | None = None) -> list[Reading]:
    """Return the readings while each of the devices is held by a pod of its own."""
    return list(take_readings(node, held(*holding), at, meter or Meter()))


def test_card_that_nobody_holds_is_idle(hardware: Board) -> None:
    """It draws little, is cool, and its memory is free."""
    (idle,) = read(Node(hardware, [whole(card(H100))]))
    assert (idle.utilization, idle.holders, idle.memory_used_mib) == (0.0, (), 0)
    assert (idle.power_watts, idle.temperature_celsius, idle.clock_mhz) == (84.0, 32, 210)


def test_held_card_is_at_work(hardware: Board) -> None:
    """At the default load, with the figures that follow from it."""
    (busy,) = read(Node(hardware, [whole(card(H100))]), card(H100).uid)
    assert busy.holders == (pod("pod-0"),)
    assert 0.72 <= busy.utilization <= 0.8
    assert busy.power_watts == pytest.approx(700 * (0.12 + 0.88 * busy.utilization))
    assert busy.memory_used_mib == round(81559 * 0.9 * busy.utilization)
    assert busy.clock_mhz == 1410


@pytest.mark.parametrize("base", [0.0, 0.25, 1.0])
def test_load_is_the_fleets(hardware: Board, base: float) -> None:
    """A pool may say how busy its held cards are."""
    node = Node(hardware, [whole(card(H100))], load={"pool": base})
    (busy,) = read(node, card(H100).uid)
    assert base * 0.9 <= busy.utilization <= base


@pytest.mark.parametrize(
    ("breakage", "healthy", "works"),
    [
        (Breakage("xid", "74"), False, False),
        (Breakage("ecc", "double-bit"), False, False),
        (Breakage(), False, False),
        (Breakage("xid", "31"), True, True),
    ],
)
def test_broken_card_works_only_if_the_plugin_would_call_it_healthy(
    hardware: Board, breakage: Breakage, *, healthy: bool, works: bool
) -> None:
    """An error of the application passes, one of the card ends the work."""
    hardware.break_units([card(H100).uid], breakage)
    (broken,) = read(Node(hardware, [whole(card(H100))]), card(H100).uid)
    assert (broken.healthy, broken.utilization > 0) == (healthy, works)
    assert (broken.breakage, broken.holders) == (breakage, (pod("pod-0"),))


def test_card_that_fell_off_the_bus_tells_nothing(hardware: Board) -> None:
    """Who holds it is the kubelet's knowledge, and remains."""
    hardware.break_units([card(H100).uid], Breakage("xid", "79"))
    (lost,) = read(Node(hardware, [whole(card(H100))]), card(H100).uid)
    assert lost.is_lost
    assert lost.holders == (pod("pod-0"),)
    figures = (lost.power_watts, lost.energy_joules, lost.temperature_celsius, lost.clock_mhz)
    assert figures == (None,) * 4
    assert (lost.memory_used_mib, lost.memory_total_mib, lost.utilization) == (None, None, 0.0)


def test_sticky_health_does_not_stop_a_mended_card(tmp_path: Path) -> None:
    """What the plugin says of it, and what it does, are two things."""
    hardware = board(tmp_path, sticky=True)
    hardware.break_units([card(H100).uid], Breakage("xid", "74"))
    hardware.mend_units([card(H100).uid])
    (mended,) = read(Node(hardware, [whole(card(H100))]), card(H100).uid)
    assert (mended.healthy, mended.breakage, mended.utilization > 0) == (False, None, True)


def test_unknown_figures_stay_unknown(hardware: Board) -> None:
    """A model without figures has none of those that follow from them."""
    (bare,) = read(Node(hardware, [whole(card(UNKNOWN))]), card(UNKNOWN).uid)
    assert (bare.power_watts, bare.energy_joules) == (None, None)
    assert (bare.memory_used_mib, bare.memory_total_mib) == (None, None)
    assert bare.utilization > 0


def test_plain_device_has_health_and_load_only(hardware: Board) -> None:
    """It is no model of anything."""
    (plain,) = read(Node(hardware, [whole(card(None))]), card(None).uid)
    assert plain.utilization > 0
    assert (plain.power_watts, plain.temperature_celsius, plain.clock_mhz) == (None, None, None)


def test_replicas_are_one_unit(hardware: Board) -> None:
    """Four pods on four replicas are one reading with four holders."""
    gpu = card(H100)
    node = Node(hardware, [Device(f"{gpu.uid}::{n}", gpu, replica=n) for n in range(4)])
    (shared,) = read(node, *(f"{gpu.uid}::{n}" for n in range(4)))
    assert [holder.pod for holder in shared.holders] == ["pod-0", "pod-1", "pod-2", "pod-3"]


def test_container_with_two_replicas_is_one_holder(hardware: Board) -> None:
    """It is told once."""
    gpu = card(H100)
    node = Node(hardware, [Device(f"{gpu.uid}::{n}", gpu, replica=n) for n in range(2)])
    both: dict[tuple[str, str], Holder] = {
        key: pod("greedy") for key in held(f"{gpu.uid}::0", f"{gpu.uid}::1")
    }
    (shared,) = take_readings(node, both, NOW, Meter())
    assert shared.holders == (pod("greedy"),)


def test_partitions_have_their_own_load_and_the_cards_sensors(hardware: Board) -> None:
    """One of seven at work: a seventh of its load is the card's."""
    gpu = card(H100)
    devices = slices(gpu, 7)
    readings = read(Node(hardware, devices, load={"pool": 1.0}), devices[0].id)
    assert [each.unit for each in readings] == [device.id for device in devices]
    assert [each.utilization > 0 for each in readings] == [True] + [False] * 6
    assert readings[0].card_utilization == pytest.approx(readings[0].utilization / 7)
    assert len({each.power_watts for each in readings}) == 1
    assert readings[0].memory_total_mib == 9984


def test_partitions_of_a_card_of_unknown_cores_count_alike(hardware: Board) -> None:
    """One of two at work: half of its load is the card's."""
    devices = slices(card(UNKNOWN), 2)
    busy, _ = read(Node(hardware, devices, load={"pool": 1.0}), devices[0].id)
    assert busy.utilization > 0
    assert busy.card_utilization == pytest.approx(busy.utilization / 2)


def test_card_in_partition_mode_without_a_partition_reads_as_a_card(hardware: Board) -> None:
    """It is there, though no resource has it."""
    (bare,) = read(Node(hardware, [], cards=[card(H100)]))
    assert (bare.unit, bare.utilization, bare.partition) == (card(H100).uid, 0.0, None)


def test_broken_partition_leaves_its_neighbours(hardware: Board) -> None:
    """A broken card takes all of them with it."""
    gpu = card(H100)
    devices = slices(gpu, 2)
    hardware.break_units([devices[0].unit], Breakage())
    assert health(read(Node(hardware, devices))) == [False, True]
    hardware.break_units([gpu.uid], Breakage())
    assert health(read(Node(hardware, devices))) == [False, False]


def test_card_with_one_lost_partition_still_draws_power(hardware: Board) -> None:
    """Its sensors answer through the other, whose figures are there."""
    devices = slices(card(H100), 2)
    hardware.break_units([devices[0].unit], Breakage("xid", "79"))
    lost, other = read(Node(hardware, devices))
    assert (lost.power_watts, other.power_watts) == (None, 84.0)


def health(readings: Sequence[Reading]) -> list[bool]:
    """Return whether each is healthy."""
    return [each.healthy for each in readings]


def test_energy_adds_up_from_reading_to_reading(hardware: Board) -> None:
    """An idle card at 84 W draws 840 J in ten seconds."""
    node, meter = Node(hardware, [whole(card(H100))]), Meter()
    read(node, meter=meter)
    (later,) = read(node, at=NOW + 10, meter=meter)
    assert later.energy_joules == pytest.approx(840.0)
