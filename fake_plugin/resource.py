"""One resource of a node: its devices, their health, and who waits for a change of it."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fake_plugin.api.deviceplugin_pb2 import Device as DeviceMessage
from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse
from fake_plugin.device import Device


@dataclass(frozen=True)
class DeviceList:
    """All devices as they were sent, or will be; `version` rises with each change."""

    version: int
    message: ListAndWatchResponse
    devices: int
    healthy: int


class Resource:
    """The devices under one resource name. Safe to use from several threads.

    A list is always whole, whether pods hold the devices or not: the kubelet keeps that account.
    Changes in quick succession may be seen as one by a stream; the last state always arrives.
    """

    def __init__(self, name: str, devices: Iterable[Device]) -> None:
        self.name = name
        self.devices = tuple(devices)
        self._by_id = {device.id: device for device in self.devices}
        self._unhealthy: set[str] = set()
        self._changed = threading.Condition()
        self._list = self._listed(version=1)

    def find(self, device_id: str) -> Device | None:
        """Return the device of that ID, or None."""
        return self._by_id.get(device_id)

    def set_health(self, device_id: str, *, healthy: bool) -> None:
        """Change the health of a device, and tell all who wait; KeyError for an unknown ID."""
        device = self._by_id[device_id]
        with self._changed:
            change = self._unhealthy.discard if healthy else self._unhealthy.add
            change(device.id)
            self._list = self._listed(self._list.version + 1)
            self._changed.notify_all()

    def current(self) -> DeviceList:
        """Return the list as it is now."""
        with self._changed:
            return self._list

    def next_after(self, version: int, is_over: Callable[[], bool]) -> DeviceList | None:
        """Wait for a list newer than `version`; None once `is_over`, which `wake` has looked at."""
        with self._changed:
            self._changed.wait_for(lambda: self._list.version > version or is_over())
            return None if is_over() else self._list

    def wake(self) -> None:
        """Let all who wait look at their `is_over` again."""
        with self._changed:
            self._changed.notify_all()

    def _listed(self, version: int) -> DeviceList:
        message = ListAndWatchResponse(
            devices=[DeviceMessage(ID=each.id, health=self._health(each)) for each in self.devices]
        )
        healthy = len(self.devices) - len(self._unhealthy)
        return DeviceList(version, message, len(self.devices), healthy)

    def _health(self, device: Device) -> str:
        return "Unhealthy" if device.id in self._unhealthy else "Healthy"
