"""Whether a pod may run on the node: its devices first, then whether the node has enough.

In the order of the kubelet's handlers, of which these two concern devices. Predicates on labels,
taints and the like need a node, and belong to the kubelet that will stand around this.
"""

from collections.abc import Collection, Iterable, Mapping

from lab.embedded.kubelet import rejection, topology
from lab.embedded.kubelet.alignment import has_topology, hints, nodes_to_try
from lab.embedded.kubelet.allocation import Allocation
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.node import Node
from lab.embedded.kubelet.numa import Mask
from lab.embedded.kubelet.pod import Container, Kind, Pod, total_request
from lab.embedded.kubelet.rejection import Rejection
from lab.embedded.kubelet.selection import AllocationError, shuffled
from lab.embedded.kubelet.topology import Hint, Policy


class Admission:
    """Decides about one pod after the other: callers take turns, as the whole node does."""

    def __init__(self, node: Node, ledger: Ledger, allocation: Allocation) -> None:
        self._ledger = ledger
        self._allocation = allocation
        self._settings = node.settings
        self._rng = node.rng
        #: The NUMA nodes that were chosen, by pod and container.
        self._masks = dict[tuple[str, str], Mask | None]()

    def admit(
        self, pod: Pod, others: Iterable[Pod], allocatable: Mapping[str, int]
    ) -> Rejection | None:
        """Give a pod its devices, and hold its request against the status of the node.

        `others` are the pods beside it that are not over. Returns why it may not run, or None.
        """
        others = list(others)
        self._forget_all_but({pod.uid, *(each.uid for each in others)})
        for container in pod.of_kinds(Kind.INIT, Kind.SIDECAR) + pod.of_kinds(Kind.APP):
            if not self._place(pod, container):
                return rejection.topology_affinity()
            try:
                self.allocate(pod, container)
            except AllocationError as problem:
                return rejection.unexpected(str(problem))
        return self._missing(pod, others, allocatable)

    def allocate(self, pod: Pod, container: Container) -> None:
        """Give a container its devices where they should be; raise `AllocationError`."""
        mask = self._masks.get((pod.uid, container.name))
        self._allocation.allocate(pod, container, mask)

    def _forget_all_but(self, active: set[str]) -> None:
        self._masks = {key: mask for key, mask in self._masks.items() if key[0] in active}

    def _place(self, pod: Pod, container: Container) -> bool:
        """Choose the NUMA nodes of a container, and tell whether the policy agrees."""
        if self._settings.policy is Policy.NONE:
            return True
        self._allocation.free()
        wanted = {
            resource: self._hints(pod.uid, container, resource)
            for resource in container.limits
            if self._ledger.serves(resource)
        }
        hint, admitted = topology.merge(self._settings.policy, self._settings.numa_nodes, wanted)
        self._masks[pod.uid, container.name] = hint.mask
        return admitted

    def _hints(self, pod_uid: str, container: Container, resource: str) -> list[Hint] | None:
        with self._ledger.lock:
            known = self._ledger.devices.get(resource, {}).values()
            if not has_topology(known):
                return None
            wanted = container.limits[resource]
            held = self._ledger.holdings.ids(pod_uid, container.name, resource)
            if held:
                free, reusable = held, frozenset[str]()
            else:
                free = frozenset(self._ledger.available(resource))
                reusable = self._allocation.reusable(pod_uid, resource)
            if len(free | reusable) < wanted or (held and len(held) != wanted):
                return []
            nodes = nodes_to_try(
                known,
                self._settings.numa_nodes,
                with_devices_only=self._settings.profile.hints_at_nodes_with_devices_only,
            )
            return hints(
                known,
                [self._ledger.device(resource, each) for each in free],
                [self._ledger.device(resource, each) for each in reusable],
                wanted,
                nodes,
            )

    def _missing(
        self, pod: Pod, others: Collection[Pod], allocatable: Mapping[str, int]
    ) -> Rejection | None:
        """Return the rejection for the first resource of which the node has too little.

        A resource that the node does not have at all is not looked at: a pod that is bound by hand
        gets in without a device (lifecycle/predicate.go:removeMissingExtendedResources).
        """
        has = self._raised(pod, allocatable)
        request = pod.request()
        for resource in shuffled(request.keys() & has.keys(), self._rng):
            wanted, used = request[resource], total_request(others, resource)
            if wanted and wanted > has[resource] - used:
                return rejection.out_of(resource, wanted, used, has[resource])
        return None

    def _raised(self, pod: Pod, allocatable: Mapping[str, int]) -> dict[str, int]:
        """Return what the node has, at least as much as is allocated if the pod holds any of it.

        So it is let in again after a restart, though the plugin is away (sanitizeNodeAllocatable).
        """
        has = dict(allocatable)
        with self._ledger.lock:
            if pod.uid in self._ledger.holdings.pods():
                for resource, devices in self._ledger.allocated.items():
                    has[resource] = max(has.get(resource, 0), len(devices))
        return has
