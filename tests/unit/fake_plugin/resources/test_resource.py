"""The list of a resource, and how those who wait with it are woken."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.resources.resource import Resource, listing_of
from fake_plugin.vendors import generic
from fake_plugin.vendors.offer import Offer
from tests.unit.fake_plugin.conftest import plain_resource


@pytest.fixture
def resource(tmp_path: Path) -> Resource:
    """Return a resource with three devices."""
    return plain_resource("example.com/device", 3, tmp_path)


def shared_hardware(state_dir: Path) -> tuple[Board, Resource]:
    """Return a resource of a whole card, two parts of one, and three replicas of a third."""
    whole, cut, shared = (Card(uid, "plain", 0, 0) for uid in ("whole", "cut", "shared"))
    profile = Profile("half", 2, 1, 1)
    parts = [Partition(f"part-{index}", cut, index, profile) for index in range(2)]
    devices = (
        Device("whole", whole),
        *(Device(part.uid, cut, part) for part in parts),
        *(Device(f"shared::{replica}", shared, replica=replica) for replica in range(3)),
    )
    offer = Offer(
        resource="example.com/device",
        pool="plain",
        devices=devices,
        answer=lambda devices: generic.container_answer("example.com/device", devices),
    )
    board = Board(StateFile(state_dir), State(), sticky=False)
    return board, Resource(offer, board)


def test_all_devices_are_listed_as_healthy(resource: Resource) -> None:
    """The list is whole and in order."""
    sent = [(device.ID, device.health) for device in resource.listing()[1].devices]
    assert sent == [("d0", "Healthy"), ("d1", "Healthy"), ("d2", "Healthy")]


def test_a_resource_may_have_no_devices(tmp_path: Path) -> None:
    """An empty list is a list: the node then shows the resource with 0."""
    assert not plain_resource("example.com/device", 0, tmp_path).listing()[1].devices


def test_a_message_that_was_sent_stays_as_it_was(tmp_path: Path) -> None:
    """A stream may still be writing it when the next change comes."""
    board, resource = shared_hardware(tmp_path)
    before = resource.listing()
    sent = before.message.SerializeToString()
    board.break_units(["whole"], Breakage())
    resource.refresh()
    after = resource.listing()
    assert (before.message.SerializeToString(), before.healthy) == (sent, 6)
    assert after.message.devices[0].health == "Unhealthy"
    assert after.healthy == 5


@given(st.lists(st.sets(st.sampled_from(["whole", "cut", "part-0", "part-1", "shared"]))))
def test_a_changed_list_is_as_one_made_anew(broken: list[set[str]]) -> None:
    """Whatever breaks and is mended: a card stands for its parts, a unit for its replicas."""
    with tempfile.TemporaryDirectory() as state_dir:
        board, resource = shared_hardware(Path(state_dir))
        for units in broken:
            board.mend_units(set(board.state.broken) - units)
            board.break_units(units, Breakage())
            resource.refresh()
            listing = resource.listing()
            assert listing.message == listing_of(resource.devices, resource.is_healthy)
            healthy = [device.health == "Healthy" for device in listing.message.devices]
            assert listing.healthy == sum(healthy)


def test_devices_are_found_by_their_id(resource: Resource) -> None:
    """What is not there is not found."""
    assert (resource.find("d1"), resource.find("d9")) == (resource.devices[1], None)


def test_a_wait_for_what_is_over_ends_at_once(resource: Resource) -> None:
    """A stream whose caller has gone before it waits is never woken again."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(resource.wait_until, lambda: True).result(5) is None


def test_a_wait_ends_when_it_is_over(resource: Resource) -> None:
    """Waking lets a stream see that it must end."""
    over: list[bool] = []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(resource.wait_until, lambda: bool(over))
        resource.wake()
        over.append(True)
        resource.wake()
        assert waiting.result(5) is None
