"""What people call hardware by, on a node whose only pool has a card that is cut up."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fake_plugin.control import names
from fake_plugin.control.refusal import Refusal
from fake_plugin.device import Device
from fake_plugin.plan import Plan
from fake_plugin.resources.inventory import Inventory
from tests.unit.fake_plugin.vendors.pools import H100, cut, pool


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    """Return a node with a whole card, and one in two halves."""
    share = pool(H100, partitions=cut("mixed", {1: ("3g.40gb", "3g.40gb")}))
    return Inventory.load(tmp_path, "worker", Plan((share,)))


@pytest.fixture
def halves(inventory: Inventory) -> list[Device]:
    """Return the parts of the second card."""
    found = (device for resource in inventory.resources for device in resource.devices)
    return [device for device in found if device.partition]


@pytest.mark.parametrize(
    "name",
    [
        lambda half: half.id,
        lambda half: half.unit,
        lambda _: "p/1/1",
        lambda _: "1/1",
    ],
)
def test_a_part_has_names(
    inventory: Inventory, halves: list[Device], name: Callable[[Device], str]
) -> None:
    """By its ID, or by pool, index of the card and its number on it; the pool may be left out."""
    half = halves[1]
    assert names.units(inventory, inventory.resources, (name(half),)) == {half.unit: "nvidia"}


@pytest.mark.parametrize("name", [lambda half: half.card.uid, lambda _: "p/1", lambda _: "1"])
def test_a_card_stands_for_its_parts(
    inventory: Inventory, halves: list[Device], name: Callable[[Device], str]
) -> None:
    """What breaks is the card itself."""
    card = halves[0].card.uid
    assert names.units(inventory, inventory.resources, (name(halves[0]),)) == {card: "nvidia"}


@pytest.mark.parametrize("name", ["2", "1/2", "p/01", "1/", "q/1", "9" * 30, ""])
def test_what_nothing_is_called_is_refused(inventory: Inventory, name: str) -> None:
    """An error says what there is, the first of it."""
    with pytest.raises(Refusal, match="this node has no device") as refusal:
        names.units(inventory, inventory.resources, (name,))
    first = inventory.resources[0].devices[0].unit
    assert refusal.value.seen.startswith(f"it has p/0 {first}")
