"""What is expected of pods whose admission hangs, or whose devices have broken."""

from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.objects import Container
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from tests.unit.harness.cluster import Cluster, running
from tests.unit.harness.conftest import ExpectPod

if TYPE_CHECKING:
    from lab.core.fleet import Fleet
    from lab.install.status import RunningLab


def test_a_pod_with_a_node_and_no_container_is_unstarted(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """It is looked at for as long as it is to last, from when it has a node."""
    cluster.pod()
    cluster.clock.at(3, lambda: cluster.pod(node="w"))
    expect_pod().stays_unstarted(lasting=2)
    assert cluster.clock.now() == pytest.approx(5)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"containers": (Container("main", id="containerd://1", reason="Starting"),)}, "Starting"),
        ({"init_containers": (running("init"),)}, "Pending, on w"),
        ({"phase": "Failed", "reason": "UnexpectedAdmissionError"}, "UnexpectedAdmissionError"),
    ],
)
def test_a_pod_that_begins_is_not_unstarted(
    cluster: Cluster, expect_pod: ExpectPod, facts: dict[str, Any], told: str
) -> None:
    """Nor is one that was turned away; both are told at once."""
    cluster.pod(node="w")
    cluster.clock.at(1, lambda: cluster.pod(node="w", **facts))
    with pytest.raises(ExpectationFailed, match=told):
        expect_pod().stays_unstarted(lasting=5)
    assert cluster.clock.now() == 1


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_a_pod_that_has_ended_waits_for_nothing(
    cluster: Cluster, expect_pod: ExpectPod, phase: str
) -> None:
    """Nobody need wait for it until the deadline."""
    cluster.pod(phase=phase, message="device busy")
    with pytest.raises(ExpectationFailed, match="device busy"):
        expect_pod().waiting(because="CreateContainerError")
    assert cluster.clock.now() == 0


def test_the_devices_that_a_status_calls_unhealthy_are_waited_for(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """By their IDs, whichever container holds them."""
    cluster.pod(containers=(running(),))
    broken = (running("a", unhealthy=frozenset({"gpu-2"})), running("b", unhealthy={"gpu-1"}))
    cluster.clock.at(4, lambda: cluster.pod(containers=broken))
    expect_pod().holds_unhealthy("gpu-1", "gpu-2")
    assert cluster.clock.now() == 4


def test_other_unhealthy_devices_are_told(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """One more than expected is as wrong as one less."""
    cluster.pod(containers=(running(unhealthy=frozenset({"gpu-1", "gpu-2"})),))
    with pytest.raises(ExpectationFailed, match="unhealthy: gpu-1, gpu-2"):
        expect_pod().holds_unhealthy("gpu-1", within=1)


@pytest.mark.parametrize(
    ("versions", "tells"),
    [(("v1.36.3", "v1.37.2"), True), (("v1.36.3", "v1.35.4"), False), (("v2.0.0",), True)],
)
def test_health_is_told_where_all_kubelets_are_new_enough(
    cluster: Cluster, versions: tuple[str, ...], *, tells: bool
) -> None:
    """One that is older would leave a test waiting."""
    for number, version in enumerate(versions):
        cluster.node(f"w{number}", version=version)
    lab = Lab(cast("RunningLab", None), cast("Fleet", None), "ns", cluster.view)
    assert lab.tells_device_health is tells


@pytest.mark.parametrize(
    ("versions", "keeps"),
    [(("v1.37.0", "v1.38.1"), True), (("v1.36.3",), False), (("v1.37.2", "v1.36.3"), False)],
)
def test_rival_plugins_are_kept_where_all_kubelets_do(
    cluster: Cluster, versions: tuple[str, ...], *, keeps: bool
) -> None:
    """From another version on than that which tells of health."""
    for number, version in enumerate(versions):
        cluster.node(f"w{number}", version=version)
    lab = Lab(cast("RunningLab", None), cast("Fleet", None), "ns", cluster.view)
    assert lab.keeps_rival_plugins is keeps
