"""One resource of a node: its devices, their list, and the streams that wait for a new one."""

import threading
from collections.abc import Callable, Iterable
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import Device as DeviceMessage
from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse, NUMANode, TopologyInfo
from fake_plugin.device import Device
from fake_plugin.hardware.board import Board
from fake_plugin.vendors.offer import Offer

HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


class Resource:
    """The devices under one resource name, as healthy as the board says. Safe to use from threads.

    `listing` is whole, whether pods hold the devices or not: the kubelet keeps that account. Its
    `version` goes up with every change of it; a change of the board that is none here does nothing.
    """

    def __init__(self, offer: Offer, board: Board) -> None:
        self._board = board
        self._woken = threading.Condition()
        self._lock = threading.Lock()
        self._take(offer)
        self._unhealthy = self._unhealthy_now()
        self._listing: ListAndWatchResponse | None = None
        self.version = 0

    @property
    def name(self) -> str:
        """Return the resource's name."""
        return self.offer.resource

    @property
    def devices(self) -> tuple[Device, ...]:
        """Return the devices, in the order of the list."""
        return self.offer.devices

    def find(self, device_id: str) -> Device | None:
        """Return the device of that ID, or None."""
        return self._by_id.get(device_id)

    def is_healthy(self, device: Device) -> bool:
        """Tell whether the list has the device as healthy."""
        return not {device.unit, device.card.uid} & self._unhealthy

    def listing(self) -> tuple[int, ListAndWatchResponse]:
        """Return the list as it is to be sent, with its version."""
        with self._lock:
            if self._listing is None:
                self._listing = listing_of(self.devices, self.is_healthy)
            return self.version, self._listing

    def refresh(self, offer: Offer | None = None) -> None:
        """Look at the board again, and take over the devices of `offer` where one is given."""
        with self._lock:
            if offer is not None and offer.devices != self.devices:
                self._take(offer)
                changed = True
            else:
                changed = self._unhealthy != self._unhealthy_now()
            if not changed:
                return
            self._unhealthy = self._unhealthy_now()
            self._listing = None
            self.version += 1
        self.wake()

    def reset(self, devices: Iterable[Device]) -> None:
        """Count a reset of the hardware behind each device."""
        self._board.reset({device.unit for device in devices})

    def wait_until(self, is_over: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until `is_over` holds, or that long; it is asked at once and at every `wake`."""
        with self._woken:
            self._woken.wait_for(is_over, seconds)

    def wait_for_change(self, version: int, is_over: Callable[[], bool]) -> None:
        """Wait until the list is another than the one of `version`, or `is_over` holds."""
        self.wait_until(lambda: is_over() or self.version != version)

    def wake(self) -> None:
        """Let all who wait look at their `is_over` again."""
        with self._woken:
            self._woken.notify_all()

    def _take(self, offer: Offer) -> None:
        self.offer = offer
        self._by_id = {device.id: device for device in offer.devices}
        self._units = frozenset(
            name for device in offer.devices for name in (device.unit, device.card.uid)
        )

    def _unhealthy_now(self) -> frozenset[str]:
        return self._board.unhealthy() & self._units


def listing_of(
    devices: Iterable[Device], is_healthy: Callable[[Device], bool]
) -> ListAndWatchResponse:
    """Return the message of ListAndWatch for devices."""
    return ListAndWatchResponse(devices=[_message(each, is_healthy(each)) for each in devices])


def _message(device: Device, healthy: bool) -> DeviceMessage:  # noqa: FBT001 - one of two words
    message = DeviceMessage(ID=device.id, health=HEALTHY if healthy else UNHEALTHY)
    if device.numa is not None:
        message.topology.CopyFrom(TopologyInfo(nodes=[NUMANode(ID=device.numa)]))
    return message
