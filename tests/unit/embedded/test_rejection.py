"""What becomes of a pod that is not admitted, word for word.

Source: pkg/kubelet/kubelet.go:rejectPod, pkg/kubelet/cm/admission/errors.go.
"""

import pytest

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container
from lab.embedded.kubelet.rejection import out_of, topology_affinity, unexpected
from tests.unit.embedded.conftest import Serve, lose
from tests.unit.embedded.plugin import RESOURCE, healthy
from tests.unit.embedded.pods import pod_of, pod_with

DONGLE = "example.com/dongle"


def test_a_failure_to_allocate_is_unexpected() -> None:
    """The status says that the pod was rejected, the event does not."""
    rejection = unexpected("no healthy devices present")
    assert rejection.reason == "UnexpectedAdmissionError"
    assert rejection.message == (
        "Allocate failed due to no healthy devices present, which is unexpected"
    )
    assert rejection.status_message == f"Pod was rejected: {rejection.message}"


def test_a_refusal_of_the_topology_manager_names_nothing() -> None:
    """Neither the resource nor the policy."""
    rejection = topology_affinity()
    assert rejection.reason == "TopologyAffinityError"
    assert rejection.status_message == (
        "Pod was rejected: Resources cannot be allocated with Topology locality"
    )


def test_a_shortage_has_the_resource_in_its_reason() -> None:
    """With the numbers in the message."""
    rejection = out_of("nvidia.com/gpu", 1, 0, 0)
    assert rejection.reason == "OutOfnvidia.com/gpu"
    assert rejection.status_message == (
        "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, "
        "requested: 1, used: 0, capacity: 0"
    )


def test_a_patched_resource_is_held_against_other_pods(kubelet: DeviceManager) -> None:
    """No plugin serves it, so the predicate alone decides."""
    kubelet.status.capacity[DONGLE] = 3
    kubelet.tick()
    assert kubelet.admit(pod_of("u", 2, DONGLE)) is None
    assert kubelet.admit(pod_of("v", 2, DONGLE)) == out_of(DONGLE, 2, 2, 3)
    assert kubelet.admit(pod_of("w", 1, DONGLE)) is None


def test_an_expired_resource_is_out(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """The kubelet has forgotten whose it was; the node has 0 of it."""
    lose(kubelet, serve(healthy("a")))
    clock.advance(330)
    assert kubelet.admit(pod_of("u", 1)) == out_of(RESOURCE, 1, 0, 0)
    assert kubelet.admit(pod_of("v", 0)) is None


def test_a_node_that_never_had_the_resource_lets_the_pod_in(kubelet: DeviceManager) -> None:
    """Bound to it by hand, the pod runs without a device."""
    assert kubelet.admit(pod_of("u", 1)) is None
    assert kubelet.devices("u", "app") == {}


def test_errors_of_devices_come_before_those_of_the_node(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """Both apply: devices are allocated first."""
    serve(healthy("a"))
    kubelet.status.capacity[DONGLE] = 0
    kubelet.tick()
    rejection = kubelet.admit(pod_with("u", Container("app", {RESOURCE: 2, DONGLE: 1})))
    assert rejection
    assert rejection.reason == "UnexpectedAdmissionError"


def test_a_pod_that_holds_devices_raises_what_the_node_has(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """So it is let in again, though the status of the node is behind and says 0."""
    serve(healthy("a", "b"))
    kubelet.status.capacity[RESOURCE] = 0
    assert kubelet.admit(pod_of("u", 2)) is None


def test_a_rejected_pod_is_over(kubelet: DeviceManager, serve: Serve) -> None:
    """It counts no more, and what its first container was given is free for the next pod."""
    serve(healthy("a", "b"))
    both = pod_with("u", Container("one", {RESOURCE: 1}), Container("two", {RESOURCE: 2}))
    assert kubelet.admit(both)
    assert kubelet.roster.active() == ()
    assert kubelet.admit(pod_of("v", 2)) is None


@pytest.mark.parametrize("used", [0, 1])
def test_terminated_pods_do_not_count(kubelet: DeviceManager, used: int) -> None:
    """Only pods that are not over use anything."""
    kubelet.status.capacity[DONGLE] = 1
    kubelet.tick()
    kubelet.admit(pod_of("u", 1, DONGLE))
    if not used:
        kubelet.remove("u")
    rejection = kubelet.admit(pod_of("v", 1, DONGLE))
    assert rejection == (out_of(DONGLE, 1, 1, 1) if used else None)


def test_a_request_of_zero_fits_into_less_than_nothing(kubelet: DeviceManager) -> None:
    """A capacity that was patched below what pods use keeps out those that need some."""
    kubelet.status.capacity[DONGLE] = 3
    kubelet.tick()
    kubelet.admit(pod_of("u", 3, DONGLE))
    kubelet.status.capacity[DONGLE] = 1
    kubelet.tick()
    assert kubelet.admit(pod_of("v", 0, DONGLE)) is None
    assert kubelet.admit(pod_of("w", 1, DONGLE)) == out_of(DONGLE, 1, 3, 1)
