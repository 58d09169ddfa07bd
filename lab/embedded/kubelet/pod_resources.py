"""The kubelet's own word on which container holds which devices: the pod-resources API, v1.

Source: pkg/kubelet/apis/podresources/server_v1.go. CPUs, memory and claims are left empty, as on a
node whose managers for them have the default policy.
"""

# ruff: noqa: N802 - the names of the calls are those of the API

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import grpc

from fake_plugin.api.podresources_pb2 import (
    AllocatableResourcesRequest,
    AllocatableResourcesResponse,
    ContainerDevices,
    ContainerResources,
    GetPodResourcesRequest,
    GetPodResourcesResponse,
    ListPodResourcesRequest,
    ListPodResourcesResponse,
    NUMANode,
    PodResources,
    TopologyInfo,
)
from fake_plugin.api.podresources_pb2_grpc import PodResourcesListerServicer
from lab.embedded.clock import Clock
from lab.embedded.kubelet.allocation import Allocation
from lab.embedded.kubelet.device import Device
from lab.embedded.kubelet.holdings import NO_NUMA, Holding
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.pod import Kind, Pod
from lab.embedded.kubelet.roster import Roster

#: Calls in a second, and at once (apis/podresources/constants.go).
RATE: Final = 100
BURST: Final = 10


class RateLimit:
    """Lets `BURST` calls through at once, and `RATE` in a second from then on."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tokens = float(BURST)
        self._seen = clock.now()
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Tell whether one more call may be answered now."""
        with self._lock:
            now = self._clock.now()
            self._tokens = min(BURST, self._tokens + (now - self._seen) * RATE)
            self._seen = now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


class PodResourcesService(PodResourcesListerServicer):
    """Answers for the pods that are not over."""

    def __init__(
        self, roster: Roster, ledger: Ledger, allocation: Allocation, clock: Clock
    ) -> None:
        self._roster = roster
        self._ledger = ledger
        self._allocation = allocation
        self._limit = RateLimit(clock)

    def List(
        self, request: ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> ListPodResourcesResponse:
        """Return all pods, those without devices as well; pods that are over lose theirs."""
        del request
        self._hold_back(context)
        pods = self._roster.active()
        self._allocation.free()
        return ListPodResourcesResponse(pod_resources=map(self._of_pod, pods))

    def GetAllocatableResources(
        self, request: AllocatableResourcesRequest, context: grpc.ServicerContext
    ) -> AllocatableResourcesResponse:
        """Return every healthy device, whether it is free or not."""
        del request
        self._hold_back(context)
        with self._ledger.lock:
            devices = [
                entry
                for resource, ids in self._ledger.healthy.items()
                for each in ids
                for entry in _of_device(resource, self._ledger.device(resource, each))
            ]
        return AllocatableResourcesResponse(devices=devices)

    def Get(
        self, request: GetPodResourcesRequest, context: grpc.ServicerContext
    ) -> GetPodResourcesResponse:
        """Return one pod; UNKNOWN where there is none of that name that is not over."""
        self._hold_back(context)
        pod = self._roster.find(request.pod_namespace, request.pod_name)
        if pod is None:
            text = f"pod {request.pod_name} in namespace {request.pod_namespace} not found"
            context.abort(grpc.StatusCode.UNKNOWN, text)
        return GetPodResourcesResponse(pod_resources=self._of_pod(pod))

    def _hold_back(self, context: grpc.ServicerContext) -> None:
        if not self._limit.allows():
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")

    def _of_pod(self, pod: Pod) -> PodResources:
        shown = pod.of_kinds(Kind.SIDECAR) + pod.of_kinds(Kind.APP)
        with self._ledger.lock:
            containers = [
                ContainerResources(
                    name=each.name,
                    devices=_of_container(self._ledger.holdings.of(pod.uid, each.name)),
                )
                for each in shown
            ]
        return PodResources(name=pod.name, namespace=pod.namespace, containers=containers)


def _of_container(holdings: Mapping[str, Holding]) -> Iterator[ContainerDevices]:
    for resource, holding in holdings.items():
        for node, ids in holding.by_numa.items():
            for device_id in ids:
                yield from _entries(resource, device_id, (node,))


def _of_device(resource: str, device: Device) -> Iterator[ContainerDevices]:
    return _entries(resource, device.id, (NO_NUMA,) if device.numa is None else device.numa)


def _entries(resource: str, device_id: str, nodes: Iterable[int]) -> Iterator[ContainerDevices]:
    """Yield one entry per NUMA node, as the kubelet never groups them."""
    for node in nodes:
        entry = ContainerDevices(resource_name=resource, device_ids=[device_id])
        if node != NO_NUMA:
            entry.topology.CopyFrom(TopologyInfo(nodes=[NUMANode(ID=node)]))
        yield entry
