"""A plugin gives way to the next one: it leaves no trace, and no device is lost."""

from pathlib import Path

import pytest

from fake_plugin.plan import Share
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import (
    plugin_sockets,
    wait_for_devices,
    wait_until,
)


@pytest.mark.parametrize("kubelet", ["1.37"], indirect=True)
def test_two_plugins_of_a_rolling_update_do_not_disturb_each_other(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The new one registers beside the old one, and stays when that one ends."""
    old = start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    start_plugin()
    wait_until("the second plugin", lambda: len(kubelet.registrations) == 2)
    second = wait_for_devices(kubelet, RESOURCE, 2)
    old.stop()
    assert first.ended.wait(5)
    assert plugin_sockets(kubelet.folder) == [second.request.endpoint]
    assert second.devices == first.devices
    assert not second.ended.is_set()


@pytest.mark.parametrize("kubelet", ["1.34", "1.36"], indirect=True)
def test_the_new_plugin_of_a_rolling_update_registers_again(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Up to 1.36 the end of the old one is taken for its own: it notices (#121994)."""
    old = start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    start_plugin()
    wait_until("the second plugin", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    old.stop()
    wait_until("a third Register", lambda: len(kubelet.registrations) == 3)
    third = wait_for_devices(kubelet, RESOURCE, 2)
    assert plugin_sockets(kubelet.folder) == [third.request.endpoint]
    assert third.devices == first.devices


def test_a_plugin_that_stops_leaves_no_socket(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """Neither a socket nor a record of one is left."""
    plugin = start_plugin()
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    plugin.stop()
    assert connection.ended.wait(5)
    assert plugin_sockets(kubelet.folder) == []
    assert list((tmp_path / "sockets").iterdir()) == []


def test_devices_that_pods_hold_stay_in_the_list(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A restarted plugin lists all its devices; after a change of the fleet, the new number."""
    plugin = start_plugin(Share("chapter", "chapter-0", 8, resource=RESOURCE))
    before = wait_for_devices(kubelet, RESOURCE, 8)
    plugin.stop()
    start_plugin(Share("chapter", "chapter-0", 10, resource=RESOURCE))
    after = wait_for_devices(kubelet, RESOURCE, 10)
    assert before.devices
    assert after.devices
    assert after.lists == 1
    assert set(before.devices) < set(after.devices)
