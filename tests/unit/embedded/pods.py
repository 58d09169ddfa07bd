"""Pods for tests."""

from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Kind, Pod
from tests.unit.embedded.plugin import RESOURCE


def app(name: str = "app", **limits: int) -> Container:
    """Return a container; limits are of `example.com/<name>`."""
    return Container(name, {f"example.com/{key}": value for key, value in limits.items()})


def pod_of(uid: str, count: int, resource: str = RESOURCE) -> Pod:
    """Return a pod with one container that needs so many devices."""
    return pod_with(uid, Container("app", {resource: count}))


def pod_with(uid: str, *containers: Container) -> Pod:
    """Return a pod with these containers."""
    return Pod(uid, f"pod-{uid}", containers)


def init(name: str, count: int, kind: Kind = Kind.INIT) -> Container:
    """Return an init container, or a sidecar, that needs so many devices."""
    return Container(name, {RESOURCE: count}, kind)


def refused(kubelet: DeviceManager, pod: Pod) -> str:
    """Return why a pod gets no devices, in the words that are put around nothing else."""
    rejection = kubelet.admit(pod)
    assert rejection
    assert rejection.reason == "UnexpectedAdmissionError"
    words = rejection.message.removeprefix("Allocate failed due to ")
    words = words.removesuffix(", which is unexpected")
    assert rejection.message == f"Allocate failed due to {words}, which is unexpected"
    return words


def devices_of(
    kubelet: DeviceManager, uid: str, container: str = "app", resource: str = RESOURCE
) -> frozenset[str]:
    """Return the devices that a container holds."""
    return kubelet.devices(uid, container).get(resource, frozenset())
