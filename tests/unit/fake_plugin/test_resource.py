"""The list of a resource, and how those who wait with it are woken."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fake_plugin.resource import Resource
from tests.unit.fake_plugin.conftest import plain_resource


@pytest.fixture
def resource(tmp_path: Path) -> Resource:
    """Return a resource with three devices."""
    return plain_resource("example.com/device", 3, tmp_path)


def test_all_devices_are_listed_as_healthy(resource: Resource) -> None:
    """The list is whole and in order."""
    sent = [(device.ID, device.health) for device in resource.listing()[1].devices]
    assert sent == [("d0", "Healthy"), ("d1", "Healthy"), ("d2", "Healthy")]


def test_a_resource_may_have_no_devices(tmp_path: Path) -> None:
    """An empty list is a list: the node then shows the resource with 0."""
    assert not plain_resource("example.com/device", 0, tmp_path).listing()[1].devices


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
