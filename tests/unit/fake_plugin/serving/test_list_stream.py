"""The stream of lists: what the kubelet hears of the hardware, and how often."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import Empty, PreStartContainerRequest
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.inventory import Inventory
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.listener import Listener, target
from fake_plugin.serving.service import LIST_GAP
from fake_plugin.serving.sockets import SocketNames
from tests.unit.fake_plugin.kubelet import CHANNEL_OPTIONS, wait_until

LOST = Breakage("xid", "79")


@pytest.fixture
def inventory(tmp_path: Path) -> Inventory:
    """Return a node with four devices, whose containers are to be announced."""
    share = Share("pool", "pool-0", 4, resource="example.com/device", pre_start=True)
    return Inventory.load(tmp_path, "worker", Plan((share,)))


@pytest.fixture
def plugin(inventory: Inventory, folder: Path, tmp_path: Path) -> Iterator[DevicePluginStub]:
    """Return the node's plugin as a kubelet sees it."""
    listener = Listener(
        inventory.resources[0], SocketNames(folder, tmp_path), Switchboard(), lambda: None
    )
    with grpc.insecure_channel(target(listener.path), options=CHANNEL_OPTIONS) as channel:
        yield DevicePluginStub(channel)
    listener.close()


class Watch:
    """A kubelet's stream; `lists` has the health of the devices, list by list."""

    def __init__(self, plugin: DevicePluginStub) -> None:
        self.lists: list[list[str]] = []
        self._call = plugin.ListAndWatch(Empty())
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        try:
            for message in self._call:
                self.lists.append([device.health for device in message.devices])
        except grpc.RpcError:
            pass

    def wait_for(self, *sick: int) -> None:
        """Wait until the last list has these devices as unhealthy and no others."""
        wanted = ["Unhealthy" if index in sick else "Healthy" for index in range(4)]
        wait_until(f"the list {wanted}", lambda: self.lists[-1:] == [wanted])

    def end(self) -> None:
        """End the stream as a kubelet does."""
        self._call.cancel()
        self._thread.join()


@pytest.fixture
def watch(plugin: DevicePluginStub) -> Iterator[Watch]:
    """Return a stream whose first list is in."""
    watch = Watch(plugin)
    watch.wait_for()
    yield watch
    watch.end()


def units(inventory: Inventory, *indices: int) -> list[str]:
    """Return the names of the hardware behind devices."""
    return [inventory.resources[0].devices[index].unit for index in indices]


def test_each_change_of_health_is_a_whole_list(inventory: Inventory, watch: Watch) -> None:
    """The kubelet replaces what it had: nothing may be left out of a list."""
    inventory.board.break_units(units(inventory, 2), LOST)
    watch.wait_for(2)
    inventory.board.break_units(units(inventory, 0), LOST)
    watch.wait_for(0, 2)
    inventory.board.mend_units(units(inventory, 2))
    watch.wait_for(0)
    assert {len(each) for each in watch.lists} == {4}


def test_a_stream_that_opens_later_begins_with_what_holds_now(
    inventory: Inventory, plugin: DevicePluginStub
) -> None:
    """A kubelet that restarts does not hear an old list first."""
    inventory.board.break_units(units(inventory, 1), LOST)
    watch = Watch(plugin)
    watch.wait_for(1)
    watch.end()
    assert len(watch.lists) == 1


def test_every_stream_hears_of_a_change(
    inventory: Inventory, watch: Watch, plugin: DevicePluginStub
) -> None:
    """Who looks on beside the kubelet takes nothing from it."""
    other = Watch(plugin)
    other.wait_for()
    inventory.board.break_units(units(inventory, 3), LOST)
    watch.wait_for(3)
    other.wait_for(3)
    other.end()


def test_of_a_storm_the_last_state_is_sent(inventory: Inventory, watch: Watch) -> None:
    """However fast it flaps, a list takes its place in a fixed pace, and the last one is right."""
    began = time.monotonic()
    for _ in range(500):
        inventory.board.toggle_units(units(inventory, 0)[:1], LOST)
    inventory.board.break_units(units(inventory, 3), LOST)
    watch.wait_for(3)
    paces = (time.monotonic() - began) / LIST_GAP
    assert len(watch.lists) <= paces + 2


def test_a_change_that_is_undone_at_once_may_stay_unsaid(
    inventory: Inventory, watch: Watch
) -> None:
    """The list after it is right in any case, and says nothing of another device."""
    with_one = ["Unhealthy", "Healthy", "Healthy", "Healthy"]
    inventory.board.break_units(units(inventory, 0), LOST)
    inventory.board.mend_units(units(inventory, 0))
    inventory.board.break_units(units(inventory, 1), LOST)
    watch.wait_for(1)
    assert all(each in (with_one, ["Healthy"] * 4) for each in watch.lists[:-1])


def test_devices_come_and_go_on_the_stream(inventory: Inventory, watch: Watch) -> None:
    """An unplugged card leaves the list, and an added one is at its end."""
    inventory.board.unplug(units(inventory, 0))
    wait_until("three devices", lambda: len(watch.lists[-1]) == 3)
    inventory.board.add("pool", 3)
    wait_until("six devices", lambda: len(watch.lists[-1]) == 6)


def test_a_container_that_starts_resets_its_devices(
    inventory: Inventory, plugin: DevicePluginStub
) -> None:
    """PreStartContainer has an effect that can be seen: a count for each device."""
    assert plugin.GetDevicePluginOptions(Empty()).pre_start_required
    ids = [device.id for device in inventory.resources[0].devices]
    plugin.PreStartContainer(PreStartContainerRequest(devices_ids=ids[:2]))
    plugin.PreStartContainer(PreStartContainerRequest(devices_ids=ids[1:2]))
    assert inventory.board.state.resets == {ids[0]: 1, ids[1]: 2}


def test_an_unknown_device_resets_none(inventory: Inventory, plugin: DevicePluginStub) -> None:
    """A call that fails has done nothing."""
    known = inventory.resources[0].devices[0].id
    with pytest.raises(grpc.RpcError, match="has no device 'd9'"):
        plugin.PreStartContainer(PreStartContainerRequest(devices_ids=[known, "d9"]))
    assert not inventory.board.state.resets
