"""From what the fleet gives to a node, and what became of it, to the node's resources."""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from fake_plugin.errors import NotReady
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Plan, Share, Sharing
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.resource import Resource
from fake_plugin.vendors import generic
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import Place
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.kubelet import wait_until
from tests.unit.fake_plugin.vendors.pools import H100, MI300X, cut, pool

ONE = Share("one", "one-0", 3, resource="example.com/one", numa=(0, 0, 1))
TWO = Share("two", "two-0", 2, resource="example.com/two")


def start(folder: Path) -> Inventory:
    """Return the inventory as a plugin that starts now has it."""
    return Inventory.load(folder, "worker", Plan((ONE, TWO)))


def sent(resource: Resource) -> list[str]:
    """Return the health of the devices, in the order of the list."""
    return [device.health for device in resource.listing()[1].devices]


def test_each_share_becomes_a_resource(tmp_path: Path) -> None:
    """Names and numbers are the fleet's."""
    resources = start(tmp_path).resources
    assert [(each.name, len(each.devices)) for each in resources] == [
        ("example.com/one", 3),
        ("example.com/two", 2),
    ]


def test_numa_nodes_are_in_the_list_where_the_fleet_says_them(tmp_path: Path) -> None:
    """A device without a topology has none, which is no preference, and not node 0."""
    one, two = start(tmp_path).resources
    numbers = [[node.ID for node in device.topology.nodes] for device in one.listing()[1].devices]
    assert numbers == [[0], [0], [1]]
    assert not any(device.HasField("topology") for device in two.listing()[1].devices)


def test_breaking_a_card_changes_the_list_of_its_resource_alone(tmp_path: Path) -> None:
    """A kubelet is told nothing that it knows already."""
    inventory = start(tmp_path)
    one, two = inventory.resources
    inventory.board.break_units([one.devices[1].unit], Breakage())
    assert (sent(one), one.version) == (["Healthy", "Unhealthy", "Healthy"], 1)
    assert (sent(two), two.version) == (["Healthy"] * 2, 0)


def test_the_list_is_that_of_before_after_a_restart(tmp_path: Path) -> None:
    """IDs, their order and their health are the same."""
    first = start(tmp_path)
    first.board.break_units([first.resources[0].devices[2].unit], Breakage("xid", "79"))
    assert start(tmp_path).resources[0].listing()[1] == first.resources[0].listing()[1]


def test_an_unplugged_card_is_off_the_list_and_comes_back_as_it_was(tmp_path: Path) -> None:
    """It keeps its ID and its faults."""
    inventory = start(tmp_path)
    one = inventory.resources[0]
    before = one.devices
    inventory.board.break_units([before[0].unit], Breakage())
    inventory.board.unplug([before[0].card.uid])
    assert one.devices == before[1:]
    assert start(tmp_path).resources[0].devices == before[1:]
    inventory.board.plug([before[0].card.uid])
    assert (one.devices, sent(one)) == (before, ["Unhealthy", "Healthy", "Healthy"])


def test_cards_are_added_at_the_end(tmp_path: Path) -> None:
    """What was there keeps its place and its ID."""
    inventory = start(tmp_path)
    two = inventory.resources[1]
    before = two.devices
    inventory.board.add("two", 2)
    assert (two.devices[:2], len(two.devices)) == (before, 4)
    assert start(tmp_path).resources[1].devices == two.devices


def test_a_card_is_there_once(tmp_path: Path) -> None:
    """Who looks at a node's cards makes no second ones, which a scrape would hold."""
    inventory = start(tmp_path)
    inventory.board.unplug([inventory.resources[0].devices[0].unit])
    inventory.board.add("one", 1)
    of_devices = [id(device.card) for device in inventory.resources[0].devices]
    assert [id(card) for card in inventory.cards(ONE)] == of_devices
    assert {id(card) for card in inventory.every_card(ONE)} > {*of_devices}


def test_a_node_can_lose_all_its_cards(tmp_path: Path) -> None:
    """The resource stays, with an empty list: the kubelet then shows 0."""
    inventory = start(tmp_path)
    one = inventory.resources[0]
    inventory.board.unplug([device.card.uid for device in one.devices])
    assert sent(one) == []


def test_a_state_that_makes_no_sense_is_reported(tmp_path: Path, said: Said) -> None:
    """The node starts, and the log says where the file went."""
    (tmp_path / "hardware.json").write_text("{")
    assert [len(each.devices) for each in start(tmp_path).resources] == [3, 2]
    (line,) = said("state-set-aside")
    assert line["file"] == str(next(tmp_path.glob("hardware.json.corrupt-*")))


def test_a_state_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    """A sound node would be a lie."""
    (tmp_path / "hardware.json").mkdir()
    with pytest.raises(NotReady, match="the state of the hardware cannot be read") as caught:
        start(tmp_path)
    assert caught.value.where == str(tmp_path / "hardware.json")
    assert caught.value.seen == "it is no regular file"


def test_what_is_out_at_the_start_can_come_back(tmp_path: Path) -> None:
    """The only card of a resource is unplugged while the plugin is away."""
    cards = pool(H100, 2, partitions=cut("mixed", {1: ("7g.80gb",)}))
    first = Inventory.load(tmp_path, "worker", Plan((cards,)))
    card = first.resources[1].devices[0].card
    first.board.unplug([card.uid])
    second = Inventory.load(tmp_path, "worker", Plan((cards,)))
    assert [(each.name, len(each.devices)) for each in second.resources] == [
        ("nvidia.com/gpu", 1),
        ("nvidia.com/mig-7g.80gb", 0),
    ]
    second.board.plug([card.uid])
    assert [len(each.devices) for each in second.resources] == [1, 1]


def test_a_broken_card_takes_its_parts_along(tmp_path: Path) -> None:
    """A part that breaks is alone."""
    parts = cut("single", {0: ("3g.40gb",) * 2, 1: ("3g.40gb",) * 2})
    inventory = Inventory.load(tmp_path, "worker", Plan((pool(H100, 2, partitions=parts),)))
    (resource,) = inventory.resources
    inventory.board.break_units([resource.devices[0].card.uid], Breakage("xid", "79"))
    inventory.board.break_units([resource.devices[3].unit], Breakage("xid", "79"))
    assert sent(resource) == ["Unhealthy", "Unhealthy", "Healthy", "Unhealthy"]


@pytest.mark.parametrize("sharing", [Sharing("time-slicing", 3), Sharing("percentage", 100)])
def test_a_broken_card_takes_all_that_share_it_along(tmp_path: Path, sharing: Sharing) -> None:
    """Replicas and shares are the same hardware, in every resource."""
    inventory = Inventory.load(tmp_path, "worker", Plan((pool(H100, 2, sharing=sharing),)))
    inventory.board.break_units([inventory.resources[0].devices[0].unit], Breakage("xid", "79"))
    for resource in inventory.resources:
        assert Counter(sent(resource)) == dict.fromkeys(
            ["Unhealthy", "Healthy"], len(resource.devices) // 2
        )


def test_vendors_beside_each_other_keep_to_themselves(tmp_path: Path) -> None:
    """Akash (akash-network/support#142): numbers per vendor, and one's loss is one's own."""
    amd = replace(pool(MI300X, 4), pool="amd", member="amd-0")
    inventory = Inventory.load(tmp_path, "worker", Plan((pool(H100, 4), amd)))
    inventory.board.unplug([device.card.uid for device in inventory.resources[0].devices])
    assert [(each.name, len(each.devices)) for each in inventory.resources] == [
        ("nvidia.com/gpu", 0),
        ("amd.com/gpu", 4),
    ]
    assert inventory.resources[1].version == 0


def test_of_two_changes_at_once_both_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slower refresh does not put back what the faster one has taken out."""
    inventory = start(tmp_path)
    one = inventory.resources[0]
    first, second, third = one.devices
    reached, go_on = Event(), Event()
    offers = generic.offers

    def slow(share: Share, cards: Sequence[Card], place: Place) -> tuple[Offer, ...]:
        if not reached.is_set():
            reached.set()
            go_on.wait(10)
        return offers(share, cards, place)

    monkeypatch.setattr(generic, "offers", slow)
    with ThreadPoolExecutor(2) as threads:
        changes = [threads.submit(inventory.board.unplug, [first.card.uid])]
        assert reached.wait(10)
        changes.append(threads.submit(inventory.board.unplug, [second.card.uid]))
        wait_until("the second change", lambda: len(inventory.board.state.unplugged) == 2)
        go_on.set()
        for change in changes:
            change.result(10)
    assert one.devices == (third,)


@pytest.mark.parametrize(
    ("fleet", "first", "second", "unhealthy"),
    [
        (False, True, None, "one"),
        (True, None, False, "one"),
        (False, None, None, ""),
        (True, None, None, "one two"),
        (False, True, True, "one two"),
    ],
)
def test_a_pool_has_a_health_policy_of_its_own(
    tmp_path: Path,
    fleet: bool,  # noqa: FBT001 - a column of the table
    first: bool | None,  # noqa: FBT001 - a column of the table
    second: bool | None,  # noqa: FBT001 - a column of the table
    unhealthy: str,
) -> None:
    """What is mended stays unhealthy where its pool is sticky, or the fleet and not the pool."""
    shares = (replace(ONE, sticky=first), replace(TWO, sticky=second))
    inventory = Inventory.load(tmp_path, "worker", Plan(shares, sticky=fleet))
    inventory.board.add("one", 1)
    units = [resource.devices[-1].unit for resource in inventory.resources]
    inventory.board.break_units(units, Breakage())
    inventory.board.mend_units(units)
    shown = [
        each.name.rpartition("/")[2] for each in inventory.resources if "Unhealthy" in sent(each)
    ]
    assert shown == unhealthy.split()
