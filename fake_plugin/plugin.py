"""The whole plugin of one node: from what the fleet gives to the node to threads that serve it."""

import os
import threading
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fake_plugin import events
from fake_plugin.config import Config
from fake_plugin.faults.book import FaultBook
from fake_plugin.hardware.board import Ignores, usual
from fake_plugin.hardware.health_checks import VARIABLES, HealthChecks
from fake_plugin.hardware.script import Script
from fake_plugin.log import say
from fake_plugin.plan import Plan
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.turns import turns
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.readiness import Readiness, ReadinessServer
from fake_plugin.serving.registration import Registration
from fake_plugin.serving.sockets import SocketNames
from fake_plugin.serving.timing import Timing
from fake_plugin.serving.watch import FolderWatch
from fake_plugin.vendors.place import BARE, Place

if TYPE_CHECKING:
    from fake_plugin.control.server import ControlServer
    from fake_plugin.metrics.endpoint import Endpoint
    from fake_plugin.smi.toolbox import Toolbox

_LOOK_WITHOUT_WATCH: Final = 0.5


class Plugin:
    """Serves the resources of a node from `start` to `stop`.

    Raises `NotReady` or `WrongUse` where it cannot.
    """

    def __init__(self, config: Config, plan: Plan, timing: Timing) -> None:
        self._pod_resources = config.pod_resources
        self.inventory = Inventory.load(
            config.state_dir, config.node, plan, _place(config, plan), _ignores(config)
        )
        resources = self.inventory.resources
        cards = sum(len(self.inventory.cards(share)) for share in plan.shares)
        say(events.SCANNED, cards=cards, resources=self.resource_names)
        readiness = Readiness(resource.name for resource in resources)
        self.switchboard = Switchboard(FaultBook(plan.faults))
        self.script = Script(
            self.inventory.board, turns(self.inventory, self.inventory.plan.script)
        )
        self._control = self._control_of(config, readiness)
        names = SocketNames(config.plugin_dir, config.state_dir)
        for name in names.remove_leftovers():
            say(events.LEFTOVER_REMOVED, socket=name)
        self._watch = self._watch_of(config)
        if self._watch is None:
            timing = replace(timing, look=_LOOK_WITHOUT_WATCH)
        self._registrations = [
            Registration(resource, names, self.switchboard, timing, readiness)
            for resource in resources
        ]
        self._tools = self._tools_of(config)
        self.readiness_server = ReadinessServer(readiness, config.health) if config.health else None
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
        if self._tools:
            self._tools.start()
        for thread in self._threads:
            thread.start()
        if self._watch:
            self._watch.start()
        self.script.start()
        if self._control:
            self._control.start()

    def stop(self) -> None:
        """End all streams, remove all sockets."""
        if self._control:
            self._control.stop()
        self.script.stop()
        for registration in self._registrations:
            registration.stop()
        for thread in self._threads:
            thread.join()
        if self._tools:
            self._tools.stop()
        if self.readiness_server:
            self.readiness_server.stop()
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

    @cached_property
    def _metrics(self) -> "Endpoint":
        """What the hardware tells to tools and Prometheus: energy adds up in one place."""
        from fake_plugin.metrics.endpoint import Endpoint  # noqa: PLC0415 - plain devices need none

        return Endpoint(self.inventory, self._pod_resources, self.switchboard.journal)

    def _control_of(self, config: Config, readiness: Readiness) -> "ControlServer | None":
        if config.control is None or config.token_file is None:
            return None
        # HTTP takes a tenth of the time of a start, and is not always wanted.
        from fake_plugin.control.node import Node  # noqa: PLC0415 - see above
        from fake_plugin.control.opening import open_control  # noqa: PLC0415

        node = Node(
            self.inventory,
            self.switchboard,
            self.script,
            readiness,
            self.remove_socket,
            end=os._exit,
        )
        return open_control(config.control, config.token_file, node, self._metrics)

    def _tools_of(self, config: Config) -> "Toolbox | None":
        if not _has_tools(self.inventory.plan):
            return None
        from fake_plugin.smi.toolbox import Toolbox  # noqa: PLC0415 - plain devices need none

        return Toolbox(config.state_dir, self.inventory.board, self._metrics.readings)

    def _watch_of(self, config: Config) -> FolderWatch | None:
        try:
            return FolderWatch(config.plugin_dir, self.look)
        except OSError as problem:
            say(events.WATCH_MISSING, folder=str(config.plugin_dir), reason=str(problem))
            return None


def _has_tools(plan: Plan) -> bool:
    """Tell whether the node has cards that a vendor's tool would show."""
    return any(share.accelerator for share in plan.shares)


def _ignores(config: Config) -> Ignores:
    """Return which errors do not make a card unhealthy, and say so where NVIDIA's variables do."""
    if not config.health_checks:
        return usual
    checks = HealthChecks.of(config.health_checks)
    disable, enable = (config.health_checks.get(name, "") for name in VARIABLES)
    malformed = list(checks.malformed)
    say(
        events.HEALTH_CHECKS,
        disable=disable,
        enable=enable,
        off=checks.are_off,
        malformed=malformed,
    )
    return checks.ignores


def _place(config: Config, plan: Plan) -> Place:
    """Return what containers get with a device, which is put on the node here."""
    tools = BARE
    if _has_tools(plan):
        from fake_plugin.smi.toolbox import install  # noqa: PLC0415 - plain devices need none

        tools = install(config.state_dir)
    return replace(tools, cdi_dir=config.cdi_dir)
