"""What one run of the device manager knows: plugins, their devices, and who holds them.

All of it is known at once, where the status of the node is behind (`node_status`). A run begins
with what the checkpoint has. Sources: devicemanager/manager.go, pod_devices.go.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fake_plugin.api.deviceplugin_pb2 import DevicePluginOptions
from lab.embedded.kubelet.connection import Connection, PluginError
from lab.embedded.kubelet.device import Device
from lab.embedded.kubelet.endpoint import Endpoint
from lab.embedded.kubelet.holdings import Holdings
from lab.embedded.kubelet.node import Node


class KubeletCrash(Exception):
    """The kubelet would have died here of a nil pointer, and the device manager has ended."""


@dataclass(frozen=True)
class Figures:
    """Devices by resource. A resource may be in `capacity` alone."""

    capacity: dict[str, int] = field(default_factory=dict)
    allocatable: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What the kubelet is told at a status tick: `expired` resources are forgotten with it."""

    figures: Figures
    expired: frozenset[str]


class Ledger:
    """Guarded by `lock`, which whoever reads several things that belong together holds."""

    def __init__(
        self,
        node: Node,
        save: Callable[[], None],
    ) -> None:
        """Know nothing yet; `save` is called after changes of what a checkpoint has."""
        self.lock = threading.RLock()
        self.endpoints: dict[str, Endpoint] = {}
        self.devices: dict[str, dict[str, Device]] = {}
        self.healthy: dict[str, set[str]] = {}
        self.unhealthy: dict[str, set[str]] = {}
        self.allocated: dict[str, set[str]] = {}
        self.holdings = Holdings()
        #: From 1.37 on: every live plugin of a resource, by its socket.
        self._plugins: dict[str, dict[Path, Endpoint]] = {}
        self._profile = node.settings.profile
        self._clock = node.clock
        self._rng = node.rng
        self._tell = node.tell
        self._save = save

    def restore(self, holdings: Holdings, registered: Iterable[str]) -> None:
        """Begin with what a checkpoint has: every resource there, without a device or a plugin."""
        with self.lock:
            self.holdings = holdings
            self.allocated = holdings.held()
            for resource in registered:
                self.healthy[resource] = set()
                self.unhealthy[resource] = set()
                self.endpoints[resource] = Endpoint(resource, self._clock)

    def connected(self, connection: Connection, options: DevicePluginOptions) -> None:
        """Take the plugin for the one that serves its resource.

        Raises `PluginError` where another registered with that socket lives (1.37).
        """
        endpoint = Endpoint(connection.resource, self._clock, connection, options)
        with self.lock:
            if self._profile.keeps_plugins_apart:
                plugins = self._plugins.setdefault(connection.resource, {})
                if connection.path in plugins:
                    raise PluginError(f"device plugin already connected: {connection.path}")
                plugins[connection.path] = endpoint
            self.endpoints[connection.resource] = endpoint

    def disconnected(self, resource: str, path: Path) -> None:
        """Take down that a plugin went away.

        Up to 1.36 it is taken for the newest one of the resource, whoever it was (#121994). From
        1.37 on, one that is left serves instead, and the devices stay healthy.
        """
        with self.lock:
            if self._profile.keeps_plugins_apart:
                self._disconnected_one(resource, path)
            elif endpoint := self.endpoints.get(resource):
                self._mark_unhealthy(resource)
                endpoint.stop()

    def listed(self, resource: str, devices: Collection[Device]) -> None:
        """Replace all devices of the resource by those of the list."""
        with self.lock:
            before = self.devices.get(resource, {})
            # A device that is listed twice, once in each state, is in both sets, as upstream.
            self.healthy[resource] = {each.id for each in devices if each.is_healthy}
            self.unhealthy[resource] = {each.id for each in devices if not each.is_healthy}
            self.devices[resource] = {each.id: each for each in devices}
            holders = self._holders_of_changed(resource, before, devices)
        if holders:
            self._tell(holders)
        self._save()

    def figures(self) -> Figures:
        """Return the numbers of devices as they are known now; only a report lets any expire."""
        with self.lock:
            return self._figures(frozenset())

    def report(self) -> Report:
        """Return what the status of the node is made of, and forget what has expired."""
        with self.lock:
            expired = self._expired()
            figures = self._figures(expired)
            for resource in expired:
                self.endpoints.pop(resource, None)
                self.healthy.pop(resource, None)
                self.unhealthy.pop(resource, None)
        if expired:
            self._save()
        return Report(figures, expired)

    def serves(self, resource: str) -> bool:
        """Tell whether a plugin serves it, or did: every other resource is not looked at."""
        with self.lock:
            return resource in self.healthy or resource in self.allocated

    def device(self, resource: str, device_id: str) -> Device:
        """Return a device that was listed; raise `KubeletCrash` for one that is gone since."""
        device = self.devices.get(resource, {}).get(device_id)
        if device is None:
            raise KubeletCrash(
                "runtime error: invalid memory address or nil pointer dereference "
                f"({resource} has lost {device_id})"
            )
        return device

    def free_all_but(self, active: Iterable[str]) -> None:
        """Take the devices from pods that are over. It is done lazily, when somebody asks."""
        with self.lock:
            over = self.holdings.pods().difference(active)
            if over:
                self.holdings.forget(over)
                self.recount()

    def recount(self) -> None:
        """Take for allocated what is held, and nothing else."""
        with self.lock:
            self.allocated = self.holdings.held()

    def available(self, resource: str) -> set[str]:
        """Return the healthy devices that are not allocated."""
        return self.healthy.get(resource, set()) - self.allocated.get(resource, set())

    def _disconnected_one(self, resource: str, path: Path) -> None:
        plugins = self._plugins.get(resource, {})
        endpoint = plugins.pop(path, None)
        if endpoint is None:
            return
        endpoint.stop()
        if plugins:
            self.endpoints[resource] = self._rng.choice(list(plugins.values()))
        else:
            self._mark_unhealthy(resource)

    def _mark_unhealthy(self, resource: str) -> None:
        healthy = self.healthy.get(resource, set())
        if resource in self.healthy:
            self.healthy[resource] = set()
        self.unhealthy[resource] = self.unhealthy.get(resource, set()) | healthy

    def _expired(self) -> frozenset[str]:
        known = {*self.healthy, *self.unhealthy}
        return frozenset(
            resource
            for resource in known
            if resource not in self.endpoints or self.endpoints[resource].is_expired
        )

    def _figures(self, expired: Collection[str]) -> Figures:
        allocatable = {
            resource: len(ids) for resource, ids in self.healthy.items() if resource not in expired
        }
        capacity = dict(allocatable)
        for resource, ids in self.unhealthy.items():
            if resource not in expired:
                capacity[resource] = capacity.get(resource, 0) + len(ids)
        return Figures(capacity, allocatable)

    def _holders_of_changed(
        self, resource: str, before: dict[str, Device], devices: Iterable[Device]
    ) -> set[str]:
        if not self._profile.shows_device_health:
            return set()
        # A device that is new may have been away, and be held still.
        changed = {
            each.id
            for each in devices
            if each.id not in before or before[each.id].health != each.health
        }
        holders: dict[str, list[str]] = {}
        for uid, _, held_under, holding in self.holdings:
            if held_under == resource or not self._profile.finds_pods_by_resource:
                for device_id in holding.ids & changed:
                    holders.setdefault(device_id, []).append(uid)
        return {self._rng.choice(uids) for uids in holders.values()}
