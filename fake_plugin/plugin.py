"""The whole plugin of one node: from what the fleet gives to the node to threads that serve it."""

import threading
from dataclasses import replace
from typing import Final

from fake_plugin import events
from fake_plugin.config import Config
from fake_plugin.faults.book import FaultBook
from fake_plugin.faults.interceptor import Switchboard
from fake_plugin.fleet.plan import Plan
from fake_plugin.health import Health, HealthServer
from fake_plugin.inventory import Inventory
from fake_plugin.log import say
from fake_plugin.registration import Registration, Timing
from fake_plugin.sockets import SocketNames
from fake_plugin.watch import FolderWatch

_LOOK_WITHOUT_WATCH: Final = 0.5


class Plugin:
    """Serves the resources of a node from `start` to `stop`.

    Raises `NotReady` or `WrongUse` where it cannot.
    """

    def __init__(self, config: Config, plan: Plan, timing: Timing) -> None:
        self.inventory = Inventory.load(config.state_dir, config.node, plan)
        resources = self.inventory.resources
        names = SocketNames(config.plugin_dir, config.state_dir)
        for name in names.remove_leftovers():
            say(events.LEFTOVER_REMOVED, socket=name)
        self._watch = self._watch_of(config)
        if self._watch is None:
            timing = replace(timing, look=_LOOK_WITHOUT_WATCH)
        health = Health(resource.name for resource in resources)
        self.switchboard = Switchboard(FaultBook(plan.faults))
        self._registrations = [
            Registration(resource, names, self.switchboard, timing, health)
            for resource in resources
        ]
        self._health = HealthServer(health, config.health) if config.health else None
        self._threads = [
            threading.Thread(target=registration.run, name="registration")
            for registration in self._registrations
        ]

    @property
    def resource_names(self) -> list[str]:
        """Return the resources of this node."""
        return [resource.name for resource in self.inventory.resources]

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

    def remove_socket(self, resource: str) -> bool:
        """Remove the socket of a resource from under it; False where there is none.

        Raises OSError where the system does not let it.
        """
        named = (each for each in self._registrations if each.resource_name == resource)
        return any(each.remove_socket() for each in named)

    def _watch_of(self, config: Config) -> FolderWatch | None:
        try:
            return FolderWatch(config.plugin_dir, self.look)
        except OSError as problem:
            say(events.WATCH_MISSING, folder=str(config.plugin_dir), reason=str(problem))
            return None
