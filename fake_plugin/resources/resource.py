"""One resource of a node: its devices, their list, and the streams that wait for a new one."""

import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse
from fake_plugin.device import HEALTHY, UNHEALTHY, Device
from fake_plugin.hardware.board import Board
from fake_plugin.vendors.offer import Offer


class Listing(NamedTuple):
    """A list as it is to be sent, and how many of its devices are healthy.

    The message is never changed afterwards: a stream may be sending it.
    """

    version: int
    message: ListAndWatchResponse
    healthy: int


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
        self._message: ListAndWatchResponse | None = None
        #: What was unhealthy when the message was made.
        self._shown = self._unhealthy
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
        return device.unit not in self._unhealthy and device.card.uid not in self._unhealthy

    def listing(self) -> Listing:
        """Return the list as it is now."""
        with self._lock:
            if self._message is None:
                self._message = listing_of(self.devices, self.is_healthy)
            elif self._shown != self._unhealthy:
                self._message = self._changed(self._message, self._shown ^ self._unhealthy)
            self._shown = self._unhealthy
            healthy = len(self.devices) - len(self._places_of(self._unhealthy))
            return Listing(self.version, self._message, healthy)

    def refresh(self, offer: Offer | None = None) -> None:
        """Look at the board again, and take over the devices of `offer` where one is given."""
        with self._lock:
            if offer is not None and offer.devices != self.devices:
                self._take(offer)
                self._message = None
                changed = True
            else:
                changed = self._unhealthy != self._unhealthy_now()
            if not changed:
                return
            self._unhealthy = self._unhealthy_now()
            self.version += 1
        self.wake()

    def send_again(self) -> None:
        """Let all who wait for a change have the list once more: what they were sent was wrong."""
        with self._lock:
            self.version += 1
        self.wake()

    def reset(self, devices: Iterable[Device]) -> None:
        """Count a reset of the hardware behind each device; raises OSError as the board does."""
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
        #: Where in the list the devices of a unit are, and those of a card.
        self._places: dict[str, list[int]] = {}
        for place, device in enumerate(offer.devices):
            for name in {device.unit, device.card.uid}:
                self._places.setdefault(name, []).append(place)

    def _unhealthy_now(self) -> frozenset[str]:
        return frozenset(each for each in self._board.unhealthy() if each in self._places)

    def _places_of(self, units: Iterable[str]) -> set[int]:
        return {place for unit in units for place in self._places[unit]}

    def _changed(self, before: ListAndWatchResponse, units: Iterable[str]) -> ListAndWatchResponse:
        # To make a list of 20 000 devices anew takes longer than a flap may; to copy it, 2 ms.
        message = ListAndWatchResponse()
        message.CopyFrom(before)
        for place in self._places_of(units):
            message.devices[place].health = _health(self.is_healthy(self.devices[place]))
        return message


def listing_of(
    devices: Iterable[Device], is_healthy: Callable[[Device], bool]
) -> ListAndWatchResponse:
    """Return the message of ListAndWatch for devices."""
    return ListAndWatchResponse(devices=[_entry(each, is_healthy(each)) for each in devices])


def _entry(device: Device, healthy: bool) -> dict[str, object]:  # noqa: FBT001 - one of two words
    # Of mappings a list is made in a quarter of the time that messages take.
    entry: dict[str, object] = {"ID": device.id, "health": _health(healthy)}
    if device.numa is not None:
        entry["topology"] = {"nodes": [{"ID": device.numa}]}
    return entry


def _health(healthy: bool) -> str:  # noqa: FBT001 - one of two words
    return HEALTHY if healthy else UNHEALTHY
