"""Our own kubelet, made to take the devices that upstream's took, where it may take them.

Both choose at random among devices that are as good. So after every step of the real one its
choice is put on top of the pile from which ours takes; if ours may not take it, the two differ, and
that is seen.
"""

import random
from collections.abc import Callable, Collection, MutableSequence
from pathlib import Path
from typing import Any, Final, TypeVar

import grpc

from fake_plugin.api.podresources_pb2 import (
    AllocatableResourcesRequest,
    ContainerDevices,
    ListPodResourcesRequest,
)
from fake_plugin.api.podresources_pb2_grpc import PodResourcesListerStub
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.connection import target
from lab.embedded.kubelet.container_start import ContainerConfigError
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device_manager import DeviceManager, KubeletStopped
from lab.embedded.kubelet.ledger import KubeletCrash, Ledger
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.selection import Selection, Wish
from lab.embedded.kubelet.topology import Policy
from lab.embedded.profile import Profile
from tests.oracle.kubelet import NUMA_NODES, Crashed, Rejected, Rejections, Seen, State

T = TypeVar("T")
#: The script says when the status of the node is brought up to date.
_NEVER: Final = 1e12
#: Until the pod-resources API answers as many calls again as one look makes.
_PAUSE: Final = 0.02
#: What the real one took, by pod, container and resource.
Choices = dict[tuple[str, str, str], list[str]]


class _Pile(random.Random):
    def __init__(self, wanted: Collection[str]) -> None:
        super().__init__(0)
        self._wanted = wanted

    def shuffle(self, x: MutableSequence[Any]) -> None:
        x[:] = sorted(x, key=lambda each: each not in self._wanted)


def following(choices: Choices) -> type[Selection]:
    """Return a selection that takes what is in the choices first; they may change later."""

    class Following(Selection):
        def __init__(self, wish: Wish, ledger: Ledger, rng: random.Random) -> None:
            del rng
            wanted = choices.get((wish.pod_uid, wish.container, wish.resource), [])
            super().__init__(wish, ledger, _Pile(wanted))

    return Following


class _Manager(DeviceManager):
    def state(self, pods: Collection[Pod]) -> State:
        ledger = self._running().ledger
        with ledger.lock:
            held = {
                pod.uid: {
                    each.name: {
                        resource: sorted(holding.ids)
                        for resource, holding in ledger.holdings.of(pod.uid, each.name).items()
                    }
                    for each in pod.containers
                }
                for pod in pods
            }
            allocated = {name: sorted(ids) for name, ids in ledger.allocated.items() if ids}
            return State(allocated, held)


class Simulated:
    """See `Kubelet`; `folder` has the sockets."""

    def __init__(self, folder: Path, policy: Policy, profile: Profile) -> None:
        self.folder = folder
        self._clock = VirtualClock()
        self._pod_resources = folder / "pr"
        settings = Settings(profile, policy, NUMA_NODES, _NEVER, self._pod_resources)
        self._manager = _Manager(folder, settings, self._clock)
        self._known = 0

    def start(self, pods: Collection[Pod], records: Collection[ContainerRecord]) -> Rejections:
        """See `Kubelet`."""
        del pods  # it keeps them itself
        self._known = len(self._manager.registrations)
        said = _alive(lambda: self._manager.start(records))
        return {uid: [each.reason, each.message] for uid, each in said.items()}

    def stop(self) -> None:
        """See `Kubelet`."""
        self._manager.stop()

    def admit(self, pod: Pod) -> Rejected | None:
        """See `Kubelet`."""
        rejection = _alive(lambda: self._manager.admit(pod))
        return [rejection.reason, rejection.message] if rejection else None

    def remove(self, uid: str) -> None:
        """See `Kubelet`."""
        self._manager.remove(uid)

    def advance(self, seconds: int) -> None:
        """See `Kubelet`."""
        self._clock.advance(seconds)

    def tick(self) -> Seen:
        """See `Kubelet`."""
        self._manager.tick()
        return self._manager.status.quantities()

    def state(self, pods: Collection[Pod]) -> State:
        """See `Kubelet`."""
        return _alive(lambda: self._manager.state(pods))

    def options(self, pod: Pod, container: Container) -> Seen:
        """See `Kubelet`."""
        try:
            given = _alive(lambda: self._manager.start_container(pod, container))
        except ContainerConfigError as problem:
            return str(problem)
        return {
            "envs": given.envs,
            "annotations": given.annotations,
            "devices": sorted(
                [each.host_path, each.container_path, each.permissions]
                for each in given.devices.values()
            ),
            "mounts": sorted(
                [each.host_path, each.container_path, each.read_only]
                for each in given.mounts.values()
            ),
            "cdi": sorted(given.cdi_devices),
        }

    def health(self, pod: Pod) -> Seen:
        """See `Kubelet`."""
        return _alive(lambda: self._manager.device_health(pod))

    def resources(self) -> Seen:
        """See `Kubelet`."""
        self._clock.advance(_PAUSE)
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0))
        address = target(self._pod_resources / "kubelet.sock")
        with grpc.insecure_channel(address, options=options) as channel:
            lister = PodResourcesListerStub(channel)
            pods = lister.List(ListPodResourcesRequest()).pod_resources
            allocatable = lister.GetAllocatableResources(AllocatableResourcesRequest()).devices
        return {
            "pods": {
                pod.name: {each.name: _entries(each.devices) for each in pod.containers}
                for pod in pods
            },
            "allocatable": _entries(allocatable),
        }

    def lists(self, resource: str) -> int:
        """See `Kubelet`."""
        mine = self._manager.registrations[self._known :]
        return sum(each.lists for each in mine if each.resource == resource)

    def streams(self) -> int:
        """See `Kubelet`."""
        return sum(not each.ended.is_set() for each in self._manager.registrations[self._known :])


def _entries(devices: Collection[ContainerDevices]) -> list[dict[str, Seen]]:
    return [
        {
            "Resource": each.resource_name,
            "IDs": list(each.device_ids),
            "Numa": [node.ID for node in each.topology.nodes],
        }
        for each in devices
    ]


def _alive(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except (KubeletCrash, KubeletStopped) as problem:
        raise Crashed from problem
