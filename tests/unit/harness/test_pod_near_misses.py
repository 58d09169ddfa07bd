"""What is nearly as it is expected of a pod, and is not."""

from typing import Any

import pytest

from lab.cluster.objects import Container
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import GPU, Cluster, running
from tests.unit.harness.conftest import ExpectPod, Inside

RUNS: dict[str, Any] = {"phase": "Running", "node": "w", "containers": (running(),)}


def test_a_pod_that_is_being_deleted_is_not_running(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """Its containers are ready until they end."""
    cluster.pod(**RUNS, terminating=True)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().running(within=1)
    assert raised.value.seen == "Running, being deleted, on w"


@pytest.mark.parametrize("because", ["node(s) had untolerated taint(s)", "1 Insufficient a.b/c+d"])
def test_the_schedulers_words_are_no_pattern(
    cluster: Cluster, expect_pod: ExpectPod, because: str
) -> None:
    """Neither its brackets, nor the dots and signs of a name."""
    cluster.pod(unscheduled=f"0/2 nodes are available: 2 {because}.")
    expect_pod().stays_pending(because=because)
    cluster.pod(unscheduled="1 nodes had untolerated taints, 1 Insufficient aXb/ccd.")
    with pytest.raises(ExpectationFailed):
        expect_pod().stays_pending(because=because, within=1)


def test_more_restarts_are_enough(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """The report says so, too; all containers count together, and each has to run."""
    both = (running("a", restarts=1), running("b", restarts=2))
    cluster.pod(**{**RUNS, "containers": both})
    expect_pod().restarted(2).restarted(3)
    with pytest.raises(
        ExpectationFailed, match="was started again 4 times or more; not within"
    ) as raised:
        expect_pod().restarted(4, within=1)
    assert raised.value.seen == "3 restarts; Running, on w"


def test_a_pod_is_up_with_one_of_its_containers(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """The other one has ended: its devices are read from the one that runs."""
    ended = Container("other", "terminated", exit_code=0, reason="Completed")
    limits = {"main": {GPU: 1}, "other": {GPU: 1}}
    cluster.pod(**{**RUNS, "containers": (running(), ended)}, limits=limits)
    inside.environment["p"] = {"GPULAB_VISIBLE_DEVICES": "GPU-1"}
    assert expect_pod().devices(container="main") == ("GPU-1",)


@pytest.mark.parametrize(
    "containers", [(), (Container("main"),), (Container("main", "terminated"),)]
)
def test_a_pod_is_not_up_without_a_container_that_runs(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, containers: tuple[Container, ...]
) -> None:
    """Not with an init container alone, which sees its devices all the same."""
    cluster.pod("p", **RUNS)
    inside.environment = {name: {"GPULAB_VISIBLE_DEVICES": "GPU-1"} for name in ("p", "q")}
    cluster.pod("q", **{**RUNS, "containers": containers}, init_containers=(running("init"),))
    with pytest.raises(ExpectationFailed, match="Running, on w"):
        expect_pod("q").holds_devices(1, within=1)
    with pytest.raises(ExpectationFailed, match="q sees GPU-1, too"):
        expect_pod("p").sees_only_its_devices()
