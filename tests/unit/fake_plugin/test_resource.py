"""The list of a resource, and how its changes reach who waits."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_plugin.device import Device
from fake_plugin.resource import DeviceList, Resource


@pytest.fixture
def resource() -> Resource:
    """Return a resource with three devices."""
    return Resource("example.com/device", [Device(f"d{index}", index) for index in range(3)])


def health(devices: DeviceList) -> dict[str, str]:
    """Return the health of each device in a list."""
    return {device.ID: device.health for device in devices.message.devices}


def test_all_devices_are_listed_as_healthy(resource: Resource) -> None:
    """The first list is whole."""
    devices = resource.current()
    assert health(devices) == {"d0": "Healthy", "d1": "Healthy", "d2": "Healthy"}
    assert (devices.version, devices.devices, devices.healthy) == (1, 3, 3)


def test_a_resource_may_have_no_devices() -> None:
    """An empty list is a list: the node then shows the resource with 0."""
    assert Resource("example.com/device", []).current().devices == 0


@pytest.mark.parametrize(
    ("healthy", "text", "count"), [(False, "Unhealthy", 2), (True, "Healthy", 3)]
)
def test_a_change_of_health_makes_a_new_list(
    resource: Resource, *, healthy: bool, text: str, count: int
) -> None:
    """The device stays in the list under its new health."""
    resource.set_health("d1", healthy=healthy)
    devices = resource.current()
    assert (health(devices)["d1"], devices.healthy, devices.version) == (text, count, 2)


def test_health_of_an_unknown_device_is_a_mistake(resource: Resource) -> None:
    """Nothing is taken down for a device that is not there."""
    with pytest.raises(KeyError):
        resource.set_health("d9", healthy=False)


def test_who_waits_gets_the_next_list(resource: Resource) -> None:
    """A change wakes a stream that has seen the list before it."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(resource.next_after, 1, lambda: False)
        resource.set_health("d0", healthy=False)
        devices = waiting.result(5)
    assert devices is not None
    assert health(devices)["d0"] == "Unhealthy"


def test_the_last_state_wins_over_those_between(resource: Resource) -> None:
    """A stream that was slow gets one list, the newest."""
    for _ in range(50):
        resource.set_health("d0", healthy=False)
        resource.set_health("d0", healthy=True)
    devices = resource.next_after(1, lambda: False)
    assert devices is not None
    assert (devices.version, devices.healthy) == (101, 3)


def test_a_wait_ends_when_it_is_over(resource: Resource) -> None:
    """Waking lets a stream see that it must end, though nothing has changed."""
    over: list[bool] = []
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(resource.next_after, 1, lambda: bool(over))
        over.append(True)
        resource.wake()
        assert waiting.result(5) is None
