"""What is expected of the pods of a Deployment, whatever they are called."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.core.fleet import Fleet
from lab.harness.expectations.replicas import ReplicasExpectation
from lab.harness.failure import ExpectationFailed
from lab.harness.lab import Lab
from lab.harness.submitting import Submitted
from tests.unit.harness.cluster import NAMESPACE, Cluster, running

if TYPE_CHECKING:
    from lab.install.status import RunningLab

RUNS: dict[str, Any] = {"phase": "Running", "containers": (running(),), "labels": {"app": "kept"}}
LOST: dict[str, Any] = {
    "phase": "Failed",
    "reason": "UnexpectedAdmissionError",
    "message": "no healthy devices present",
    "labels": {"app": "kept"},
}


@pytest.fixture
def replicas(cluster: Cluster) -> ReplicasExpectation:
    """Return an expectation of the Deployment `kept`."""
    folder = SimpleNamespace(kubeconfig="/my lab/kubeconfig")
    lab = Lab(
        cast("RunningLab", SimpleNamespace(folder=folder)),
        Fleet.default(),
        NAMESPACE,
        cluster.view,
    )
    return lab.expect_replicas(Submitted("Deployment", NAMESPACE, "kept", {}))


def test_a_pod_that_replaces_a_lost_one_is_waited_for(
    cluster: Cluster, replicas: ReplicasExpectation
) -> None:
    """The lost one may stay, and pods of others count for nothing."""
    cluster.pod("kept-1", **LOST)
    cluster.pod("other", **{**RUNS, "labels": {"app": "other"}})
    cluster.clock.at(5, lambda: cluster.pod("kept-2", **RUNS))
    replicas.rejected(because="no healthy devices").running(1)
    assert cluster.clock.now() == 5


@pytest.mark.parametrize("facts", [{"phase": "Pending"}, {"terminating": True}])
def test_a_pod_on_its_way_does_not_run(
    cluster: Cluster, replicas: ReplicasExpectation, facts: dict[str, Any]
) -> None:
    """Neither before it has begun, nor while it is being deleted."""
    cluster.pod("kept-1", **{**RUNS, **facts})
    replicas.running(0)


@pytest.mark.parametrize(
    "facts", [{"reason": "OutOfcpu"}, {"message": "device busy"}, {"phase": "Running"}]
)
def test_a_pod_that_failed_otherwise_was_not_rejected_so(
    cluster: Cluster, replicas: ReplicasExpectation, facts: dict[str, Any]
) -> None:
    """For another reason, in other words, or not at all."""
    cluster.pod("kept-1", **{**LOST, **facts})
    with pytest.raises(ExpectationFailed):
        replicas.rejected(because="no healthy devices", within=1)


def test_the_report_tells_of_each_pod(cluster: Cluster, replicas: ReplicasExpectation) -> None:
    """By its name, with what was said of it, and how to see more."""
    cluster.pod("kept-1", **LOST)
    cluster.event("UnexpectedAdmissionError", "no healthy devices present", pod="kept-1")
    with pytest.raises(ExpectationFailed) as raised:
        replicas.running(2, within=7)
    assert str(raised.value) == (
        "Deployment kept: expected: 2 of its pods run; not within 7 s\n"
        "  where: Deployment kept\n"
        "  seen:  kept-1: Failed, UnexpectedAdmissionError, no healthy devices present\n"
        "         12:00:00 Warning UnexpectedAdmissionError from kubelet: no healthy"
        " devices present\n"
        "  next:  look at what is there\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' describe pods --namespace ns"
        " --selector app=kept"
    )


def test_a_deployment_without_pods_says_so(replicas: ReplicasExpectation) -> None:
    """As where its controller does not run."""
    with pytest.raises(ExpectationFailed, match="it has no pod"):
        replicas.running(1, within=1)
