"""Which devices are preferred, of those that are free."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.device import Device
from fake_plugin.hardware.card import Card
from fake_plugin.resources.preference import choose
from fake_plugin.vendors.offer import Spread

#: As in an eight-GPU server: four on each of two NUMA nodes.
EIGHT = [Device(f"g{at}", Card(f"g{at}", "p", at, at, numa=at // 4)) for at in range(8)]
#: Three cards with four replicas each: g0::0 to g2::3.
REPLICAS = [
    Device(f"g{at}::{number}", Card(f"g{at}", "p", at, at), None, number)
    for at in range(3)
    for number in range(4)
]
SPREADS: list[Spread] = ["distributed", "packed", "together"]


def ids(text: str) -> list[str]:
    """Return the IDs of a text such as `0 1 2::3`."""
    return [f"g{each}" for each in text.split()]


@pytest.mark.parametrize(
    ("free", "must", "size", "chosen"),
    [
        # Of two nodes that have enough, the fuller one: what is left stays large.
        ("0 1 2 4 5", "", 2, "4 5"),
        ("2 3 4 5 6 7", "", 2, "2 3"),
        ("0 1 2 3 4 5 6 7", "", 4, "0 1 2 3"),
        # Issue kubernetes/kubernetes#136431: both of one node, though another number is lower.
        ("1 2 3", "", 2, "1 2"),
        ("3 4 5", "", 2, "4 5"),
        # No node has enough: the largest first, and the smallest that has the rest.
        ("2 3 4 5 6 7", "", 5, "4 5 6 7 2"),
        # What must be included draws its node along, also where another has more.
        ("0 1 4 5 6 7", "1", 2, "1 0"),
        ("0 1 4 5 6 7", "1", 4, "1 0 4 5"),
        ("0 1 2 3 4 5 6 7", "5 0", 4, "5 0 4 6"),
    ],
)
def test_whole_devices_come_from_the_fewest_numa_nodes(
    free: str, must: str, size: int, chosen: str
) -> None:
    """A node that is in it already costs nothing; a node that just suffices is the best."""
    assert choose(EIGHT, ids(free), ids(must), size, "distributed") == ids(chosen)


def test_devices_without_a_topology_have_no_preference() -> None:
    """The order of the list decides, which is that of the cards."""
    plain = [Device(f"g{at}", Card(f"g{at}", "p", at, at)) for at in range(4)]
    assert choose(plain, ids("3 1 2"), [], 2, "distributed") == ids("1 2")


@pytest.mark.parametrize(
    ("spread", "free", "must", "size", "chosen"),
    [
        ("distributed", "0::0 0::1 0::2 0::3 1::0 1::1 1::2 1::3", "", 3, "0::0 1::0 0::1"),
        # Card 0 is held twice, card 1 once, card 2 not at all.
        ("distributed", "0::2 0::3 1::1 1::2 1::3 2::0 2::1 2::2 2::3", "", 2, "2::0 1::1"),
        ("packed", "0::2 0::3 1::1 1::2 1::3 2::0 2::1 2::2 2::3", "", 3, "0::2 0::3 1::1"),
        ("distributed", "0::1 0::2 0::3 1::0 1::1 1::2", "0::0", 2, "0::0 1::0"),
        # Shared alike after the first: the card that gave nothing yet is next.
        ("distributed", "0::0 0::1 0::2 0::3 1::1 1::2 1::3", "", 2, "0::0 1::1"),
        ("distributed", "0::1 0::2 0::3 1::1 1::2 1::3", "0::0", 2, "0::0 1::1"),
        ("packed", "0::1 0::2 0::3 1::0 1::1 1::2 1::3", "0::0", 2, "0::0 0::1"),
    ],
)
def test_replicas_follow_the_policy_of_nvidias_plugin(
    spread: Spread, free: str, must: str, size: int, chosen: str
) -> None:
    """Distributed takes from what is shared least, packed from what is shared most."""
    assert choose(REPLICAS, ids(free), ids(must), size, spread) == ids(chosen)


@pytest.mark.parametrize(
    ("free", "must", "size", "chosen"),
    [
        ("0::3 1::1 1::2 1::3 2::2 2::3", "", 2, "2::2 2::3"),
        ("0::3 1::1 1::2 1::3 2::2 2::3", "", 3, "1::1 1::2 1::3"),
        ("0::3 1::1 1::2 1::3 2::2 2::3", "", 5, "1::1 1::2 1::3 2::2 2::3"),
        ("0::3 1::1 1::2 1::3 2::2 2::3", "0::0", 2, "0::0 0::3"),
    ],
)
def test_shares_of_a_card_come_from_one_card(free: str, must: str, size: int, chosen: str) -> None:
    """A container with 30 percent of a card should not get 10 of three cards."""
    assert choose(REPLICAS, ids(free), ids(must), size, "together") == ids(chosen)


@pytest.mark.parametrize(
    ("free", "must", "size", "chosen"),
    [
        ("0 0 0 1", "", 2, "0 1"),
        ("0 9 1", "", 2, "0 1"),
        ("0 1", "9", 2, "0 1"),
        ("0 1", "1 1", 2, "1 0"),
        ("0 1 2", "0", 1, "0"),
        ("0 1 2", "0 1 2", 2, "0 1"),
        ("0 1", "", 0, ""),
        ("0 1", "", -1, ""),
        ("0 1", "", 9, "0 1"),
        ("", "", 2, ""),
    ],
)
def test_what_makes_no_sense_is_left_out(free: str, must: str, size: int, chosen: str) -> None:
    """An error here would cost the pod its life, so there is none."""
    assert choose(EIGHT, ids(free), ids(must), size, "distributed") == ids(chosen)


NODES = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def resources(draw: st.DrawFn) -> list[Device]:
    """Return the devices of a resource: some cards, all whole or all with replicas."""
    numa = draw(st.lists(NODES, min_size=1, max_size=8))
    cards = [Card(f"g{at}", "p", at, at, numa=node) for at, node in enumerate(numa)]
    if draw(st.booleans()):
        return [Device(card.uid, card) for card in cards]
    return [
        Device(f"{card.uid}::{number}", card, None, number)
        for card in cards
        for number in range(draw(st.integers(1, 4)))
    ]


@given(resources(), st.data(), st.sampled_from(SPREADS))
def test_an_answer_is_always_one_that_the_kubelet_can_use(
    devices: list[Device], data: st.DataObject, spread: Spread
) -> None:
    """As many as asked for where there are as many, each once, known, and what must be first."""
    names = st.sampled_from([*(device.id for device in devices), "stranger"])
    free = data.draw(st.lists(names))
    must = data.draw(st.lists(names, max_size=3))
    size = data.draw(st.integers(-1, 12))
    answer = choose(devices, free, must, size, spread)
    known = {device.id for device in devices} & {*free, *must}
    wanted = [name for name in dict.fromkeys(must) if name in known][: max(size, 0)]
    assert len(answer) == min(max(size, 0), len(known))
    assert max(Counter(answer).values(), default=1) == 1
    assert set(answer) <= known
    assert answer[: len(wanted)] == wanted


@given(st.lists(st.integers(0, 3), min_size=1, max_size=10), st.data())
def test_no_choice_has_fewer_numa_nodes(numa: list[int], data: st.DataObject) -> None:
    """The number of nodes is the least that can hold as many devices."""
    devices = [Device(f"g{at}", Card(f"g{at}", "p", at, at, numa=n)) for at, n in enumerate(numa)]
    size = data.draw(st.integers(1, len(devices)))
    answer = choose(devices, [device.id for device in devices], [], size, "distributed")
    taken = {device.numa for device in devices if device.id in answer}
    largest = sorted(Counter(numa).values(), reverse=True)
    least = next(n for n in range(1, len(largest) + 1) if sum(largest[:n]) >= size)
    assert len(taken) == least


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.data())
def test_distributed_replicas_even_out(held: list[int], data: st.DataObject) -> None:
    """No card takes another replica while a free one is held less."""
    cards = [Card(f"g{at}", "p", at, at) for at in range(len(held))]
    devices = [Device(f"{c.uid}::{n}", c, None, n) for c in cards for n in range(5)]
    free = [device.id for device in devices if (device.replica or 0) >= held[device.card.index]]
    size = data.draw(st.integers(1, len(free)))
    answer = choose(devices, free, [], size, "distributed")
    taken = Counter(name.split("::")[0] for name in answer)
    after = [number + taken[card.uid] for number, card in zip(held, cards, strict=True)]
    highest = max((after[card.index] for card in cards if taken[card.uid]), default=0)
    assert all(number >= highest - 1 for number in after)
