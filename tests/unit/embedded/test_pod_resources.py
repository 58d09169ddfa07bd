"""The pod-resources API, asked over its socket.

Source: pkg/kubelet/apis/podresources/server_v1.go.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import PreferredAllocationRequest
from fake_plugin.api.podresources_pb2 import (
    AllocatableResourcesRequest,
    ContainerDevices,
    GetPodResourcesRequest,
    ListPodResourcesRequest,
    PodResources,
)
from fake_plugin.api.podresources_pb2_grpc import PodResourcesListerStub
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.connection import target
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container, Kind
from tests.unit.embedded.conftest import Serve, StartKubelet
from tests.unit.embedded.plugin import RESOURCE, Script, healthy, unhealthy
from tests.unit.embedded.pods import devices_of, init, pod_of, pod_with
from tests.unit.embedded.test_allocation import PREFERS


@pytest.fixture
def kubelet(start_kubelet: StartKubelet, folder: Path) -> DeviceManager:
    """Return a kubelet that serves the API."""
    return start_kubelet(Settings(pod_resources=folder / "pod-resources"))


@pytest.fixture
def lister(kubelet: DeviceManager, folder: Path) -> Iterator[PodResourcesListerStub]:
    """Return the API as a client sees it."""
    del kubelet
    with grpc.insecure_channel(target(folder / "pod-resources" / "kubelet.sock")) as channel:
        yield PodResourcesListerStub(channel)


def listed(lister: PodResourcesListerStub) -> list[PodResources]:
    """Return all pods."""
    return list(lister.List(ListPodResourcesRequest()).pod_resources)


def shown(entries: list[ContainerDevices]) -> list[tuple[str, list[str], list[int]]]:
    """Return resource, devices and NUMA nodes of each entry, in order."""
    return sorted(
        (
            entry.resource_name,
            list(entry.device_ids),
            [node.ID for node in entry.topology.nodes],
        )
        for entry in entries
    )


def refusal_of(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    """Return how a call is refused."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), str(caught.value.details())


def test_all_pods_are_listed(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """With and without devices, by name and namespace."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.admit(pod_with("v", Container("app", {})))
    first, second = listed(lister)
    assert (first.name, first.namespace) == ("pod-u", "default")
    assert shown(list(first.containers[0].devices)) == [(RESOURCE, ["a"], [])]
    assert [container.name for container in second.containers] == ["app"]
    assert not second.containers[0].devices


def test_a_device_has_an_entry_per_numa_node(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """And is never grouped with others."""
    both = healthy("b", numa=0)
    both[0].topology.nodes.add(ID=1)
    serve(healthy("a", numa=0), both)
    kubelet.admit(pod_of("u", 2))
    (pod,) = listed(lister)
    assert shown(list(pod.containers[0].devices)) == [
        (RESOURCE, ["a"], [0]),
        (RESOURCE, ["b"], [0]),
        (RESOURCE, ["b"], [1]),
    ]


def test_init_containers_are_left_out(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """Sidecars are not; they come first."""
    serve(healthy("a", "b", "c"))
    sidecar = init("sidecar", 1, Kind.SIDECAR)
    kubelet.admit(pod_with("u", init("init", 1), sidecar, Container("app", {RESOURCE: 1})))
    (pod,) = listed(lister)
    assert [container.name for container in pod.containers] == ["sidecar", "app"]


def test_a_pod_that_is_over_is_gone_and_loses_its_devices(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """To list the pods is one of the moments at which the kubelet looks (#132020)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.remove("u")
    assert devices_of(kubelet, "u") == {"a"}
    assert listed(lister) == []
    assert devices_of(kubelet, "u") == set()


def test_pods_may_be_listed_while_a_plugin_is_asked_for_its_wish(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """The kubelet then counts anew what is allocated, amid an allocation (upstream's #130050)."""
    plugin = serve(healthy("a", "b", "c"), script=Script(options=PREFERS))
    kubelet.admit(pod_of("over", 1))
    kubelet.remove("over")
    kubelet.admit(pod_of("u", 1))

    def prefer(request: PreferredAllocationRequest) -> list[str]:
        listed(lister)
        return list(request.container_requests[0].available_deviceIDs)

    plugin.script.prefer = prefer
    assert kubelet.admit(pod_of("v", 2)) is None
    assert not devices_of(kubelet, "u") & devices_of(kubelet, "v")


def test_one_pod_can_be_asked_for(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """It is shown as in the list."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    request = GetPodResourcesRequest(pod_name="pod-u", pod_namespace="default")
    assert [lister.Get(request).pod_resources] == listed(lister)


@pytest.mark.parametrize(
    ("name", "namespace"), [("pod-x", "default"), ("pod-u", "other"), ("pod-over", "default")]
)
def test_a_pod_that_is_not_there_is_an_error(
    kubelet: DeviceManager, lister: PodResourcesListerStub, name: str, namespace: str
) -> None:
    """Nor is one that is over; the status is UNKNOWN."""
    kubelet.admit(pod_with("u", Container("app", {})))
    kubelet.admit(pod_with("over", Container("app", {})))
    kubelet.remove("over")
    request = GetPodResourcesRequest(pod_name=name, pod_namespace=namespace)
    assert refusal_of(lambda: lister.Get(request)) == (
        grpc.StatusCode.UNKNOWN,
        f"pod {name} in namespace {namespace} not found",
    )


def test_allocatable_are_all_healthy_devices(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """Whether a pod holds them or not."""
    serve(healthy("a"), healthy("b", numa=1), unhealthy("c"))
    kubelet.admit(pod_of("u", 1))
    answer = lister.GetAllocatableResources(AllocatableResourcesRequest())
    assert shown(list(answer.devices)) == [(RESOURCE, ["a"], []), (RESOURCE, ["b"], [1])]


def test_eleven_calls_at_once_are_too_many(
    kubelet: DeviceManager, lister: PodResourcesListerStub, clock: VirtualClock
) -> None:
    """A hundred in a second are let through, ten at once."""
    del kubelet
    for _ in range(10):
        listed(lister)
    limited = (grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")
    assert refusal_of(lambda: listed(lister)) == limited
    assert refusal_of(lambda: lister.Get(GetPodResourcesRequest())) == limited
    clock.advance(0.011)
    listed(lister)
    assert refusal_of(lambda: listed(lister)) == limited
    clock.advance(3600)
    for _ in range(10):
        listed(lister)
    assert refusal_of(lambda: listed(lister)) == limited


def test_a_restart_changes_no_answer(
    kubelet: DeviceManager, serve: Serve, lister: PodResourcesListerStub
) -> None:
    """The same pod with the same device, before its plugin is back."""
    serve(healthy("a", "b"))
    kubelet.admit(pod_of("u", 1))
    before = listed(lister)
    kubelet.restart([ContainerRecord("u", "app")])
    answer = lister.List(ListPodResourcesRequest(), wait_for_ready=True)
    assert list(answer.pod_resources) == before


def test_it_is_not_served_without_a_folder(start_kubelet: StartKubelet, folder: Path) -> None:
    """For plugins alone it is not needed."""
    start_kubelet(Settings())
    assert not (folder / "pod-resources").exists()
