"""The whole plugin of one node: from what the fleet gives to the node to threads that serve it."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from fake_plugin import events
from fake_plugin.config import Config
from fake_plugin.device import Device
from fake_plugin.errors import WrongUse
from fake_plugin.fleet import Share
from fake_plugin.health import Health, HealthServer
from fake_plugin.log import say
from fake_plugin.message_limit import MESSAGE_LIMIT
from fake_plugin.registration import Registration, Timing
from fake_plugin.resource import Resource
from fake_plugin.sockets import SocketNames
from fake_plugin.vendors import generic
from fake_plugin.watch import FolderWatch

_LOOK_WITHOUT_WATCH: Final = 0.5


class Plugin:
    """Serves the resources of a node from `start` to `stop`.

    Raises `NotReady` or `WrongUse` where it cannot.
    """

    def __init__(self, config: Config, shares: Sequence[Share], timing: Timing) -> None:
        resources = [_resource(config.node, share) for share in shares]
        names = SocketNames(config.plugin_dir, config.state_dir)
        for name in names.remove_leftovers():
            say(events.LEFTOVER_REMOVED, socket=name)
        self._watch = self._watch_of(config)
        if self._watch is None:
            timing = replace(timing, look=_LOOK_WITHOUT_WATCH)
        health = Health(resource.name for resource in resources)
        self._registrations = [
            Registration(resource, names, timing, health) for resource in resources
        ]
        self._health = HealthServer(health, config.health) if config.health else None
        self._threads = [
            threading.Thread(target=registration.run, name="registration")
            for registration in self._registrations
        ]

    def start(self) -> None:
        """Register everything, and keep it so."""
        for thread in self._threads:
            thread.start()
        if self._watch:
            self._watch.start()

    def stop(self) -> None:
        """End all streams, remove all sockets."""
        for registration in self._registrations:
            registration.stop()
        for thread in self._threads:
            thread.join()
        if self._health:
            self._health.stop()
        if self._watch:
            self._watch.stop()

    def look(self) -> None:
        """Let every registration look at its sockets."""
        for registration in self._registrations:
            registration.look()

    def _watch_of(self, config: Config) -> FolderWatch | None:
        try:
            return FolderWatch(config.plugin_dir, self.look)
        except OSError as problem:
            say(events.WATCH_MISSING, folder=str(config.plugin_dir), reason=str(problem))
            return None


def _resource(node: str, share: Share) -> Resource:
    # One device tells the size of all, whose IDs are of one length: a count that is far too large
    # is refused before it is made. A kubelet must be able to take the list also when each device is
    # "Unhealthy", which takes two bytes more than "Healthy". The lab counts in the same way.
    one = Resource(share.resource, _devices(node, replace(share, count=1)))
    size = (one.listing.ByteSize() + 2) * share.count
    if size > MESSAGE_LIMIT:
        raise WrongUse(
            f"{share.count} devices are too many for one list",
            where=f"pool {share.pool}",
            seen=f"the list has up to {size} bytes, and the kubelet takes {MESSAGE_LIMIT}",
            remedy="lower the pool's count",
        )
    return Resource(share.resource, _devices(node, share))


def _devices(node: str, share: Share) -> Iterator[Device]:
    for index in range(share.count):
        yield Device(generic.device_id(node, share.pool, index), index)
