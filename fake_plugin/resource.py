"""One resource of a node: its devices, their list, and the streams that wait with it."""

import threading
from collections.abc import Callable, Iterable

from fake_plugin.api.deviceplugin_pb2 import Device as DeviceMessage
from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse
from fake_plugin.device import Device


class Resource:
    """The devices under one resource name. Safe to use from several threads.

    `listing` is whole, whether pods hold the devices or not: the kubelet keeps that account. All
    devices are healthy: a fleet that wants another is refused as it is read.
    """

    def __init__(self, name: str, devices: Iterable[Device]) -> None:
        self.name = name
        self.devices = tuple(devices)
        self.listing = ListAndWatchResponse(
            devices=[DeviceMessage(ID=each.id, health="Healthy") for each in self.devices]
        )
        self._by_id = {device.id: device for device in self.devices}
        self._woken = threading.Condition()

    def find(self, device_id: str) -> Device | None:
        """Return the device of that ID, or None."""
        return self._by_id.get(device_id)

    def wait_until(self, is_over: Callable[[], bool]) -> None:
        """Wait until `is_over` holds; it is asked at once, and again at every `wake`."""
        with self._woken:
            self._woken.wait_for(is_over)

    def wake(self) -> None:
        """Let all who wait look at their `is_over` again."""
        with self._woken:
            self._woken.notify_all()
