"""What is expected of a pod: when it is met, when nobody need wait any longer, and what is told."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lab.cluster.objects import Container
from lab.harness.failure import ExpectationFailed
from tests.unit.harness.cluster import GPU, NAMESPACE, Cluster, running
from tests.unit.harness.conftest import NO_CAT, ExpectPod, Inside

SHORT = f"0/2 nodes are available: 2 Insufficient {GPU}."
RUNS: dict[str, Any] = {"phase": "Running", "node": "w", "containers": (running(),)}
REJECTED: dict[str, Any] = {
    "phase": "Failed",
    "node": "w",
    "reason": "UnexpectedAdmissionError",
    "message": "Allocate failed due to no healthy devices present",
}


def test_a_pod_that_runs_is_running(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """Nothing is waited for."""
    cluster.pod(**RUNS)
    expect_pod().running()
    assert cluster.clock.now() == 0


def test_the_wait_ends_at_the_event(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """And not at the next turn of a poll."""
    cluster.pod()
    cluster.clock.at(7.3, lambda: cluster.pod(**RUNS))
    expect_pod().running()
    assert cluster.clock.now() == pytest.approx(7.3)


def test_a_pod_that_is_created_later_is_waited_for(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """A controller makes it in its own time."""
    cluster.clock.at(3, lambda: cluster.pod(**RUNS))
    expect_pod().running()


def test_the_report_of_a_deadline(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """What was awaited, how long, what was seen last, what was said of it, and a command."""
    cluster.pod(unscheduled=SHORT)
    cluster.event("FailedScheduling", SHORT, count=3)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().running(within=20)
    assert str(raised.value) == (
        "pod p: expected: is running and ready; not within 20 s\n"
        "  where: pod p\n"
        f"  seen:  Pending, {SHORT}\n"
        f"         12:00:00 Warning FailedScheduling (3 times) from default-scheduler: {SHORT}\n"
        "  next:  look at what is there\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' describe pod p --namespace ns"
    )


def test_a_failure_is_pytests_kind_of_failure(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """Not an error of the test."""
    cluster.pod(**REJECTED)
    with pytest.raises(AssertionError):
        expect_pod().running()


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (REJECTED, "Failed, on w, UnexpectedAdmissionError, Allocate failed due to no healthy"),
        ({"phase": "Succeeded"}, "Succeeded"),
        (
            {"containers": (Container("main", reason="ErrImageNeverPull", message="no busybox"),)},
            "Pending, container main waits: ErrImageNeverPull: no busybox",
        ),
    ],
)
def test_what_cannot_come_any_more_is_not_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, facts: dict[str, Any], told: str
) -> None:
    """The minute that is left is nobody's use."""
    cluster.pod(**facts)
    with pytest.raises(ExpectationFailed, match=r"over after 0.0 s") as raised:
        expect_pod().running(within=60)
    assert raised.value.seen.startswith(told)


@pytest.mark.parametrize(
    ("container", "told"),
    [
        (Container("main"), "Running, on w"),
        (Container("main", "running"), "Running, on w, container main runs but is not ready"),
        (
            Container("main", "terminated", exit_code=137, reason="OOMKilled"),
            "Running, on w, container main ended with 137 (OOMKilled)",
        ),
    ],
)
def test_a_pod_whose_container_is_not_ready_is_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, container: Container, told: str
) -> None:
    """Until the deadline, and the container is told of."""
    cluster.pod(phase="Running", node="w", containers=(container,))
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().running(within=1)
    assert raised.value.seen == told


def test_pending_with_the_reason_stays(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """It is looked at for as long as it is to stay."""
    cluster.clock.at(1, lambda: cluster.pod(unscheduled=SHORT))
    expect_pod().stays_pending(because=f"Insufficient {GPU}", lasting=4)
    assert cluster.clock.now() == pytest.approx(5)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"node": "w"}, "it was given the node w; Pending, on w"),
        ({"unscheduled": "0/2 nodes are available"}, "Pending, 0/2 nodes are available"),
    ],
)
def test_pending_that_does_not_stay_is_told(
    cluster: Cluster, expect_pod: ExpectPod, facts: dict[str, Any], told: str
) -> None:
    """At the moment at which it changes."""
    cluster.pod(unscheduled=SHORT)
    cluster.clock.at(1.5, lambda: cluster.pod(**facts))
    with pytest.raises(ExpectationFailed, match="stays Pending because 'Insufficient") as raised:
        expect_pod().stays_pending(because="Insufficient", lasting=10)
    assert raised.value.waited == pytest.approx(1.5)
    assert raised.value.seen == told


def test_a_rejection_has_its_reason_and_its_words(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """The kubelet's own."""
    cluster.pod(**REJECTED)
    expect_pod().rejected(because="no healthy devices present")


@pytest.mark.parametrize(
    ("reason", "because"), [("OutOfcpu", ""), ("UnexpectedAdmissionError", "device busy")]
)
def test_another_rejection_is_a_failure_at_once(
    cluster: Cluster, expect_pod: ExpectPod, reason: str, because: str
) -> None:
    """What has failed for one reason does not fail for another one later."""
    cluster.pod(**REJECTED)
    with pytest.raises(ExpectationFailed, match=r"over after 0.0 s"):
        expect_pod().rejected(reason, because=because)


def test_a_pod_on_another_node_is_a_failure_at_once(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """A pod does not move."""
    cluster.pod(node="w")
    expect_pod().on("w")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().on("other")
    assert raised.value.seen == "it is on w"


def test_an_event_is_found_by_its_reason_and_words(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """It may come after the state that it tells of."""
    cluster.clock.at(2, lambda: cluster.event("FailedScheduling", SHORT))
    expect_pod().event("FailedScheduling", because="Insufficient")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().event("FailedScheduling", because="taint", within=1)
    assert raised.value.seen.startswith("1 other events\n12:00:00 Warning FailedScheduling")


def test_an_event_that_comes_again_is_counted(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """By the number that the cluster keeps of it."""
    cluster.event("Failed", "no such file")
    cluster.clock.at(2, lambda: cluster.event("Failed", "no such file", count=2))
    expect_pod().event("Failed", times=2)
    assert cluster.clock.now() == 2
    with pytest.raises(ExpectationFailed, match="has an event Failed, 3 times; not") as raised:
        expect_pod().event("Failed", times=3, within=1)
    assert raised.value.seen.startswith("it was said 2 times\n")


def test_a_name_in_the_schedulers_message_is_a_whole_one(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """One resource can be called as another begins."""
    cluster.pod(unscheduled=SHORT.replace(GPU, f"{GPU}.shared"))
    expect_pod().stays_pending(because=f"Insufficient {GPU}.shared")
    with pytest.raises(ExpectationFailed):
        expect_pod().stays_pending(because=f"Insufficient {GPU}", within=1)


def test_what_a_container_prints_is_waited_for(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """No watch tells of it: it is looked for twice a second."""
    cluster.pod(**RUNS)
    cluster.clock.at(2, lambda: inside.printed.update(p="GPU-1\n"))
    expect_pod().logs("GPU-1")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().logs("GPU-2", within=1)
    assert raised.value.seen == "it has printed: GPU-1"


def test_what_comes_after_the_seconds_does_not_disturb(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """It was left alone for as long as it was asked for."""
    cluster.pod(**RUNS)
    cluster.clock.at(2, cluster.pod)
    with expect_pod().undisturbed(lasting=1):
        pass
    assert cluster.clock.now() == 1


def test_a_pod_that_is_disturbed_afterwards_is_told_at_once(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """With what it was before."""
    cluster.pod(**RUNS)
    cluster.clock.at(2, lambda: cluster.pod(phase="Failed"))
    with (
        pytest.raises(ExpectationFailed) as raised,
        expect_pod().undisturbed(lasting=9),
    ):
        pass
    assert str(raised.value) == (
        "pod p: expected: goes on undisturbed; over after 2.0 s\n"
        "  where: pod p\n"
        "  seen:  Failed; before: Running, on w\n"
        "  next:  look at what is there\n"
        "         $ kubectl --kubeconfig '/my lab/kubeconfig' describe pod p --namespace ns"
    )


def test_a_pod_that_does_not_run_cannot_go_on(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """What is to happen does not happen then."""
    cluster.pod()
    with pytest.raises(ExpectationFailed, match="is running and ready; not within 60 s"):
        expect_pod().undisturbed().__enter__()


def disturb_for_a_moment(cluster: Cluster) -> None:
    """Let it be another pod between two looks."""
    cluster.pod(phase="Failed")
    cluster.pod(**RUNS)


def disturb_by_deletion(cluster: Cluster) -> None:
    """Let it be gone, and another be there that is like it."""
    cluster.pods.remove("p", NAMESPACE)
    cluster.pod(**RUNS)


def becomes(**facts: Any) -> Callable[[Cluster], None]:  # noqa: ANN401 - any field
    """Let it be as it is but for these fields."""
    return lambda cluster: cluster.pod(**{**RUNS, **facts})


DISTURBANCES: dict[str, Callable[[Cluster], None]] = {
    "a restart": becomes(containers=(running(restarts=1),)),
    "another container": becomes(containers=(replace(running(), id="containerd://other"),)),
    "a container that ended": becomes(containers=(replace(running(), state="terminated"),)),
    "a sidecar that restarted": becomes(init_containers=(running("sidecar", restarts=1),)),
    "a failure": becomes(phase="Failed"),
    "its end": becomes(phase="Succeeded"),
    "another pod": becomes(uid="another"),
    "its deletion that has begun": becomes(terminating=True),
    "a moment": disturb_for_a_moment,
    "its deletion": disturb_by_deletion,
}


@pytest.mark.parametrize("disturb", DISTURBANCES.values(), ids=DISTURBANCES)
def test_what_happens_in_the_block_counts(
    cluster: Cluster, expect_pod: ExpectPod, disturb: Callable[[Cluster], None]
) -> None:
    """What a pod is after the event says nothing of what it was before."""
    cluster.pod(**RUNS)
    with pytest.raises(ExpectationFailed), expect_pod().undisturbed():
        disturb(cluster)
    assert cluster.clock.now() == 0


def test_never_sees_what_lasted_for_a_moment_alone(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """Between two looks it was so, and is no more."""
    cluster.pod(**RUNS)

    def blink() -> None:
        cluster.pod(phase="Failed")
        cluster.pod(**RUNS)

    cluster.clock.at(1, blink)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().never("failed", lambda pod: pod.phase == "Failed", lasting=5)
    assert raised.value.what == "pod p: expected: never failed; over after 1.0 s"


def test_what_was_before_is_not_held_against_it(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """Never is from now on."""
    cluster.pod(phase="Failed")
    cluster.pod(**RUNS)
    expect_pod().never("failed", lambda pod: pod.phase == "Failed", lasting=5)
    assert cluster.clock.now() == pytest.approx(5)


def test_what_becomes_of_another_pod_is_not_held_against_it(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """Neither when it is to be undisturbed, nor when it is never to be so."""
    cluster.pod(**RUNS)
    cluster.pod("other", **RUNS)
    for second in (1, 3):
        cluster.clock.at(second, lambda: cluster.pod("other", phase="Failed"))
    with expect_pod().undisturbed(lasting=2):
        pass
    expect_pod().never("failed", lambda pod: pod.phase == "Failed", lasting=2)
    assert cluster.clock.now() == pytest.approx(4)


def test_devices_are_those_of_its_own_environment(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Those of one resource where it is named, else of all: the short name has either's."""
    cluster.pod(**RUNS)
    inside.environment["p"] = {
        "GPULAB_VISIBLE_DEVICES": "0000:c1",
        "GPULAB_VISIBLE_DEVICES_NVIDIA_COM_GPU": "GPU-1,GPU-2",
        "GPULAB_VISIBLE_DEVICES_AMD_COM_GPU": "0000:c1",
    }
    expect_pod().holds_devices(3).holds_devices(2, GPU).holds_devices(1, "amd.com/gpu")
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().holds_devices(3, GPU)
    assert raised.value.seen == "it holds GPU-1, GPU-2"


def test_a_container_without_cat_is_told(cluster: Cluster, expect_pod: ExpectPod) -> None:
    """Its environment cannot be read, which is not the same as no devices."""
    cluster.pod(**RUNS)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().holds_devices(0, within=1)
    assert raised.value.seen == f"the environment of p cannot be read: {NO_CAT}"


def test_a_device_that_two_pods_see_is_told(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """With the other pod's name."""
    for name, devices in (("p", "GPU-1,GPU-2"), ("q", "GPU-3"), ("r", "GPU-2")):
        cluster.pod(name, **RUNS)
        inside.environment[name] = {"GPULAB_VISIBLE_DEVICES": devices}
    expect_pod("q").sees_only_its_devices()
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod("p").sees_only_its_devices()
    assert raised.value.seen == "r sees GPU-2, too"


def test_the_same_device_on_another_node_is_another_one(
    cluster: Cluster, expect_pod: ExpectPod, inside: Inside
) -> None:
    """Names are a node's own."""
    for name, node in (("p", "w"), ("q", "v")):
        cluster.pod(name, **{**RUNS, "node": node})
        inside.environment[name] = {"GPULAB_VISIBLE_DEVICES": "0"}
    expect_pod("p").sees_only_its_devices()


def test_restarts_are_counted_when_the_container_runs_again(
    cluster: Cluster, expect_pod: ExpectPod
) -> None:
    """One that waits for its next turn has not been started again yet."""
    waiting = Container("main", restarts=2, reason="CrashLoopBackOff")
    cluster.pod(**{**RUNS, "containers": (waiting,)})
    cluster.clock.at(9, lambda: cluster.pod(**{**RUNS, "containers": (running(restarts=2),)}))
    expect_pod().restarted(2)
    assert cluster.clock.now() == pytest.approx(9)
    with pytest.raises(ExpectationFailed) as raised:
        expect_pod().restarted(3, within=1)
    assert raised.value.seen == "2 restarts; Running, on w"
