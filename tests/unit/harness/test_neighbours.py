"""Whether a pod is alone with its devices, beside neighbours of which not all is known yet."""

from typing import Any

import pytest

from lab.cluster.objects import Container
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import Cluster, running
from tests.unit.harness.conftest import ExpectPod, Inside

RUNS: dict[str, Any] = {"phase": "Running", "node": "w", "containers": (running(),)}
SEES_1 = {"GPULAB_VISIBLE_DEVICES": "GPU-1"}
WAITS = Container("main", "waiting", reason="ContainerCreating")
CRASHES = Container("main", "waiting", reason="CrashLoopBackOff", message="back-off 40s")


@pytest.mark.parametrize(
    ("containers", "told"),
    [
        ((), "Pending, on w"),
        ((WAITS,), "Pending, on w, container main waits: ContainerCreating"),
        ((CRASHES,), "Pending, on w, container main waits: CrashLoopBackOff: back-off 40s"),
    ],
)
def test_a_neighbour_that_has_not_started_yet_is_waited_for(
    cluster: Cluster,
    expect_pod: ExpectPod,
    inside: Inside,
    containers: tuple[Container, ...],
    told: str,
) -> None:
    """It may be given the very device that the pod has; the kubelet need not have it yet."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", node="w", containers=containers)
    inside.environment = {"p": SEES_1, "q": SEES_1}
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices(within=1)
    assert raised.value.seen == f"what its neighbour q sees is not known yet: {told}"
    cluster.clock.at(3, lambda: cluster.pod("q", **RUNS))
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices()
    assert (raised.value.seen, cluster.clock.now()) == ("q sees GPU-1, too", 3)


@pytest.mark.parametrize(
    "facts",
    [
        {"requests": {}, "containers": (WAITS,)},
        {"phase": "Running", "containers": (Container("main", "terminated"),)},
        {"phase": "Failed"},
        {"phase": "Failed", "containers": (WAITS,)},
        {"node": "other"},
        {"node": ""},
    ],
)
def test_a_neighbour_that_gets_no_device_here_is_not_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside, facts: dict[str, Any]
) -> None:
    """It asks for none, has ended, was refused, or is not on the node."""
    cluster.pod("p", **RUNS)
    cluster.pod("q", **{"node": "w", **facts})
    inside.environment["p"] = SEES_1
    expect_pod("p").sees_only_its_devices()
    assert cluster.clock.now() == 0


def test_a_shared_device_is_told_beside_a_neighbour_that_waits(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """And at once: nothing of it can change any more."""
    for name in ("p", "r"):
        cluster.pod(name, **RUNS)
    cluster.pod("q", node="w", containers=(WAITS,))
    inside.environment = {"p": SEES_1, "r": SEES_1}
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices()
    assert (raised.value.seen, cluster.clock.now()) == ("r sees GPU-1, too", 0)
