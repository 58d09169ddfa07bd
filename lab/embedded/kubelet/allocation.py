"""Gives devices to the containers of a pod, with the consent of plugins.

Source: devicemanager/manager.go:Allocate, allocateContainerResources.
"""

import random
from collections.abc import Callable, Collection

from fake_plugin.api.deviceplugin_pb2 import AllocateResponse
from lab.embedded.kubelet.connection import PluginError
from lab.embedded.kubelet.holdings import hold
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.numa import Mask
from lab.embedded.kubelet.pod import Container, Kind, Pod
from lab.embedded.kubelet.selection import AllocationError, Selection, Wish, shuffled


class Allocation:
    """One container at a time, and of one pod after the other: callers take turns."""

    def __init__(
        self,
        ledger: Ledger,
        rng: random.Random,
        free: Callable[[], None],
        ran_before: Callable[[str, str], bool],
        save: Callable[[], None],
    ) -> None:
        """`free` takes the devices from pods that are over; `save` writes the checkpoint, or fails.

        `ran_before` tells whether a container ran over a restart of which not all is known yet.
        """
        self._ledger = ledger
        self._rng = rng
        self.free = free
        self._ran_before = ran_before
        self._save = save
        self._pool_of = ""
        self._pool: dict[str, frozenset[str]] = {}

    def allocate(self, pod: Pod, container: Container, mask: Mask | None) -> None:
        """Give a container what it needs, on the NUMA nodes of the mask where that can be.

        Devices of an init container are for the containers after it; those of a sidecar and of an
        app container are its own. Raises `AllocationError`.
        """
        if self._pool_of != pod.uid:
            self._pool_of, self._pool = pod.uid, {}
        self._allocate(pod.uid, container, mask)
        for resource, holding in self._ledger.holdings.of(pod.uid, container.name).items():
            pool = self.reusable(pod.uid, resource)
            keeps = container.kind is not Kind.INIT
            self._pool[resource] = pool - holding.ids if keeps else pool | holding.ids

    def reusable(self, pod_uid: str, resource: str) -> frozenset[str]:
        """Return the devices of the pod's init containers that are over."""
        return self._pool.get(resource, frozenset()) if self._pool_of == pod_uid else frozenset()

    def _allocate(self, pod_uid: str, container: Container, mask: Mask | None) -> None:
        freed = changed = False
        for resource in shuffled(container.limits, self._rng):
            if not self._ledger.serves(resource):
                continue
            if not freed:
                self.free()
                freed = True
            wish = Wish(
                pod_uid=pod_uid,
                container=container.name,
                resource=resource,
                count=container.limits[resource],
                reusable=self.reusable(pod_uid, resource),
                ran_before=self._ran_before(pod_uid, container.name),
                mask=mask,
            )
            changed |= self._grant(wish)
        if changed:
            self._save()

    def _grant(self, wish: Wish) -> bool:
        """Choose devices and ask the plugin; tell whether any were given."""
        selection = Selection(wish, self._ledger, self._rng)
        selection.make()
        if not selection.chosen:
            return False
        answer = self._ask(wish.resource, selection.chosen)
        if not answer.container_responses:
            # The devices stay allocated, and no pod is known to hold them: a leak, as upstream.
            raise AllocationError(f"no containers return in allocation response {answer}")
        with self._ledger.lock:
            devices = [
                self._ledger.device(wish.resource, each)
                for each in shuffled(selection.chosen, self._rng)
            ]
            holding = hold(devices, answer.container_responses[0])
            self._ledger.holdings.insert(wish.pod_uid, wish.container, wish.resource, holding)
        return True

    def _ask(self, resource: str, devices: Collection[str]) -> AllocateResponse:
        endpoint = self._ledger.endpoints.get(resource)
        if endpoint is None:
            self._ledger.recount()
            raise AllocationError(f"unknown Device Plugin {resource}")
        try:
            return endpoint.allocate(shuffled(devices, self._rng))
        except PluginError as problem:
            self._ledger.recount()
            raise AllocationError(str(problem)) from problem
