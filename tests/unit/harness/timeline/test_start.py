"""Steps 8 and 9: how a container was started, and what it sees."""

from dataclasses import replace

import pytest

from lab.cluster.objects import Condition, Container
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.start import start
from lab.harness.timeline.step import CONTAINER as SEES
from lab.harness.timeline.step import RUNTIME, Step
from tests.unit.harness.timeline.observed import (
    ALLOCATED,
    CONTAINER,
    GPU,
    IDS,
    OFFERED,
    SCHEDULED,
    allocate,
    at,
    journal,
    pending,
    pod,
    rejected,
    running,
)
from tests.unit.harness.timeline.test_allocation import HOLDING, SHORT


def step(seen: Observation, number: int) -> Step:
    """Return one of the steps, which come in their order."""
    steps = list(start(seen))
    assert [each.number for each in steps] == [RUNTIME, SEES]
    return steps[number - RUNTIME]


def told(seen: Observation, number: int) -> tuple[str, str, str, str]:
    """Return how a step ended, when, what is said of it, and where that is known from."""
    found = step(seen, number)
    return found.outcome, found.moment.text(at(0)), found.detail.en, found.source


def waiting(reason: str, message: str = "") -> Observation:
    """Return a pod whose container waits for this."""
    container = Container("c", reason=reason, message=message)
    return running(events=(SCHEDULED,), pod=pod(phase="Pending", containers=(container,)))


def with_a_sidecar(**more: object) -> Observation:
    """Return a pod with a second container, so that events do not say which one they are about."""
    log = Container("log", "running", "id2", ready=True, started=at(6))
    return running(**{"pod": pod(containers=(CONTAINER, log)), **more})


CRASHING = Container("c", id="i", restarts=3, reason="CrashLoopBackOff")
UNSTARTABLE = Container(
    "c", "terminated", "i", reason="StartError", message="no such file", started=at(-1e9)
)
RUNTIME_CASES = {
    "made, and crashing": (
        running(events=(SCHEDULED,), pod=pod(containers=(CRASHING,))),
        ("done", "-", "", "pod status"),
    ),
    "made, and not to be started": (
        running(events=(SCHEDULED,), pod=pod(containers=(UNSTARTABLE,))),
        ("done", "-", "", "pod status"),
    ),
    "one container": (running(), ("done", "10:00:06", "", "event")),
    "events have expired": (
        running(events=(), pod=pod()),
        ("done", "10:00:05.202 … 10:00:08.000", "", "pod status"),
    ),
    "several containers": (
        with_a_sidecar(),
        ("done", "10:00:05.202 … 10:00:08.000", "", "pod status"),
    ),
    "several containers, and no journal": (
        with_a_sidecar(journal=None),
        ("done", "≤ 10:00:08.000", "", "pod status"),
    ),
    "on its way": (
        waiting("ContainerCreating"),
        ("waiting", "-", "ContainerCreating", "pod status"),
    ),
    "cannot be made": (
        waiting("CreateContainerError", "lstat /dev/none"),
        ("failed", "-", "CreateContainerError: lstat /dev/none", "pod status"),
    ),
    "has no image": (
        waiting("ErrImageNeverPull", "not present"),
        ("failed", "-", "ErrImageNeverPull: not present", "pod status"),
    ),
    "not let in yet": (
        running(events=(SCHEDULED,), pod=pod(phase="Pending", containers=())),
        ("waiting", "-", "the kubelet has not let the pod in yet", ""),
    ),
    "not let in": (
        rejected((), SHORT),
        ("never", "-", "the kubelet did not let the pod in", ""),
    ),
    "no node": (pending(), ("waiting", "-", "the pod has no node yet", "")),
    "no pod": (running(pod=None, missing={"pod": "gone"}), ("unknown", "-", "gone", "")),
}


@pytest.mark.parametrize("case", RUNTIME_CASES)
def test_container_is_handed_over(case: str) -> None:
    """An event tells when, else the start of the container; or it says what it waits for."""
    seen, expected = RUNTIME_CASES[case]
    assert told(seen, RUNTIME) == expected


def test_sandbox_is_told_of() -> None:
    """A condition has when it was ready, to the second."""
    ready = {"PodReadyToStartContainers": Condition("True", "", "", at(6))}
    said = "the pod's sandbox was ready at 10:00:06"
    assert step(running(pod=pod(conditions=ready)), RUNTIME).detail.en == said


VARIABLE = f"c: 1 of 2 devices: GPULAB_VISIBLE_DEVICES={IDS[0]}"
CDI = {"container_responses": [{"cdi_devices": [{"name": "vendor.com/gpu=0"}]}]}
SEES_CASES = {
    "its log has them": (running(), ("done", "10:00:07", VARIABLE, "pod log")),
    "its log has not": (running(pod_logs={}), ("done", "10:00:07", VARIABLE, "journal")),
    "its status has them": (
        running(pod_logs={}, pod=pod(containers=(HOLDING,))),
        ("done", "10:00:07", VARIABLE, "pod status"),
    ),
    "no variable has them": (
        running(journal=journal(*OFFERED, allocate(3, 5.2, IDS[0], answer=CDI))),
        ("done", "10:00:07", f"c: 1 of 2 devices: {IDS[0]}", "pod log"),
    ),
    "the plugin has forgotten": (
        running(journal=None, pod=pod(containers=(HOLDING,))),
        ("done", "10:00:07", f"c: 1 of 2 devices: {IDS[0]}", "pod log"),
    ),
    "nobody tells which": (
        running(journal=None),
        ("done", "10:00:07", "c: 1 of 2 devices, nothing tells which", ""),
    ),
    "the node is not known": (
        running(node_status=None),
        ("done", "10:00:07", f"c: 1 device: GPULAB_VISIBLE_DEVICES={IDS[0]}", "pod log"),
    ),
    "it was restarted since": (
        running(pod=pod(containers=(replace(CONTAINER, restarts=2, started=at(19)),))),
        ("done", "10:00:07", VARIABLE, "pod log"),
    ),
    "it was restarted since, and events have expired": (
        running(events=(SCHEDULED,), pod=pod(containers=(replace(CONTAINER, restarts=2),))),
        ("done", "10:00:05.000 … 10:00:08.000", VARIABLE, "pod log"),
    ),
    "it crashes": (
        running(events=(SCHEDULED,), pod=pod(containers=(CRASHING,))),
        ("done", "-", VARIABLE, "pod log"),
    ),
    "it cannot be started": (
        running(events=(SCHEDULED,), pod=pod(containers=(UNSTARTABLE,))),
        ("failed", "-", "StartError: no such file", "pod status"),
    ),
    "it cannot be made": (
        waiting("CreateContainerError", "lstat /dev/none"),
        ("failed", "-", "CreateContainerError: lstat /dev/none", "pod status"),
    ),
    "several containers": (with_a_sidecar(), ("done", "10:00:07", VARIABLE, "pod log")),
}


@pytest.mark.parametrize("case", SEES_CASES)
def test_container_sees_its_devices(case: str) -> None:
    """By its own log, by its status, or by what the plugin has answered."""
    seen, expected = SEES_CASES[case]
    assert told(seen, SEES) == expected


VENDORS = {"GPULAB_VISIBLE_DEVICES": IDS[0], "GPULAB_VISIBLE_DEVICES_GPU": IDS[0]}


@pytest.mark.parametrize(
    ("variables", "limits", "name"),
    [
        ({**VENDORS, "NVIDIA_VISIBLE_DEVICES": IDS[0]}, {GPU: 1}, "NVIDIA_VISIBLE_DEVICES"),
        (VENDORS, {GPU: 1}, "GPULAB_VISIBLE_DEVICES"),
        (VENDORS, {GPU: 1, "b.com/x": 1}, "GPULAB_VISIBLE_DEVICES_GPU"),
        ({**VENDORS, "ASCEND_VISIBLE_DEVICES": "0"}, {GPU: 1}, "GPULAB_VISIBLE_DEVICES"),
    ],
)
def test_variable_is_the_vendors_or_the_one_that_no_other_resource_sets(
    variables: dict[str, str], limits: dict[str, int], name: str
) -> None:
    """Of two resources that set one variable, the kubelet takes either."""
    answer = {"container_responses": [{"envs": variables}]}
    calls = journal(*OFFERED, allocate(3, 5.2, IDS[0], answer=answer))
    found = step(running(pod=pod(limits={"c": limits}), resources=(*limits,), journal=calls), SEES)
    assert f"c: 1 of 2 devices: {name}={IDS[0]}" in found.detail.en


def test_least_that_is_known_of_several_containers_is_the_source() -> None:
    """Of one the log has its device, of the other the journal alone."""
    limits = {"c": {GPU: 1}, "d": {GPU: 1}}
    both = (CONTAINER, replace(CONTAINER, name="d"))
    calls = journal(*OFFERED, ALLOCATED, allocate(4, 5.3, IDS[1]))
    seen = running(pod=pod(limits=limits, containers=both), journal=calls)
    found = step(seen, SEES)
    assert found.source == "journal"
    assert found.detail.en == f"{VARIABLE}; d: 1 of 2 devices: GPULAB_VISIBLE_DEVICES={IDS[1]}"
