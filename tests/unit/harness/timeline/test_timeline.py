"""The nine steps together, whatever of a cluster is there."""

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.cluster.objects import Container
from lab.harness.timeline.moment import UNKNOWN
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.picture import picture
from lab.harness.timeline.step import KINDS
from lab.harness.timeline.text import lines
from lab.harness.timeline.timeline import Timeline
from tests.unit.harness.timeline.observed import (
    ALLOCATED,
    CONTAINER,
    GPU,
    IDS,
    OFFERED,
    SCHEDULED,
    STARTED,
    allocate,
    at,
    call,
    condition,
    event,
    journal,
    listed,
    logged,
    node,
    pod,
    running,
)
from tests.unit.harness.timeline.test_allocation import EMPTY, HOLDING, REFUSED, SHORT

CALLS = (
    *OFFERED,
    call(3, "Register", 2, code="UNKNOWN", fault="rule-1"),
    call(None, "Register", 2.1),
    listed(4, 4, 2, healthy=0),
    call(None, "ListAndWatch", 1.22),
    call(5, "Register", 9),
    call(6, "Register", 1.3, resource="b.com/x"),
    ALLOCATED,
    allocate(7, 5.3, IDS[1]),
    allocate(8, 5.25, IDS[0], code="UNKNOWN"),
    allocate(None, 5.3, IDS[0]),
    allocate(9, 5.4, IDS[0], request="too long", answer="too long"),
)
EVENTS = (
    SCHEDULED,
    *STARTED,
    event("FailedScheduling", 5.5),
    event("UnexpectedAdmissionError", 5),
    replace(event("Scheduled", 5), first=None, last=None),
)
CONTAINERS = (
    CONTAINER,
    HOLDING,
    Container("c", reason="ContainerCreating"),
    Container("c", "terminated", "i", reason="StartError", started=at(-1e9)),
    Container("c", id="i", restarts=2, reason="CrashLoopBackOff"),
)
PODS = st.builds(
    pod,
    requests=st.just({GPU: 1, "b.com/x": 1}),
    node=st.sampled_from(["gpu-lab-worker", ""]),
    phase=st.sampled_from(["Pending", "Running", "Failed", "Succeeded", ""]),
    reason=st.sampled_from(["", "UnexpectedAdmissionError", "Evicted"]),
    message=st.sampled_from(["", REFUSED, EMPTY, SHORT]),
    unscheduled=st.sampled_from(["", "0/2 nodes"]),
    terminating=st.booleans(),
    conditions=st.sampled_from([{}, condition(5)]),
    containers=st.sampled_from([(), *((each,) for each in CONTAINERS), (CONTAINER, CONTAINER)]),
    limits=st.sampled_from([{}, {"c": {}}, {"c": {GPU: 1}}, {"i": {GPU: 1}, "c": {GPU: 2}}]),
)
JOURNALS = st.lists(st.sampled_from(CALLS), unique_by=id).map(lambda calls: journal(*calls))
OBSERVATIONS = st.builds(
    running,
    pod=st.none() | PODS,
    resources=st.sampled_from([(), (GPU,), (GPU, "b.com/x")]),
    node_status=st.none() | st.builds(node, st.sampled_from([0, 2]), st.sampled_from([None, 1, 9])),
    events=st.lists(st.sampled_from(EVENTS), unique_by=id).map(tuple),
    journal=st.none() | JOURNALS,
    plugin_log=st.sampled_from([(), (logged("scanned", 1.1),), (logged("scanned", 10),)]),
    pod_logs=st.sampled_from([{}, {"c": IDS[0]}]),
    others=st.sampled_from([(), (pod(phase="Pending", containers=()),)]),
    missing=st.sampled_from([{}, {"pod": "no", "node": "no", "journal": "no", "events": "no"}]),
)


@given(OBSERVATIONS)
def test_there_are_nine_steps_whatever_is_there(seen: Observation) -> None:
    """A failed test's evidence is of a cluster in any state: nothing is raised, all is drawn."""
    timeline = Timeline.of(seen)
    assert [each.number for each in timeline.steps] == [*range(1, len(KINDS) + 1)]
    for each in timeline.steps:
        assert each.moment.after is None or each.moment.at is not None
        assert (each.source == "") <= (each.outcome != "done" or each.number == len(KINDS))
    assert len(list(lines(timeline, "zh"))) >= 3 + len(KINDS)
    ET.fromstring(picture(timeline, "en"))  # noqa: S314 - our own


@given(OBSERVATIONS)
def test_nothing_comes_after_what_did_not_come(seen: Observation) -> None:
    """A pod that has no node was asked about by nobody, and runs nowhere."""
    bare = replace(seen.pod, node="", containers=()) if seen.pod else None
    tried = tuple(each for each in seen.events if each.reason == "FailedScheduling")
    later = Timeline.of(replace(seen, pod=bare, events=tried)).steps[5:]
    assert {each.outcome for each in later} <= {"waiting", "never", "unknown" if not bare else ""}
    assert {each.moment for each in later} == {UNKNOWN}


@pytest.mark.parametrize(
    ("observed", "day"),
    [(running(), at(7)), (running(pod=None, resources=(), node_status=None), at(1.1))],
)
def test_day_is_that_of_the_last_step_that_is_known(observed: Observation, day: object) -> None:
    """Times of other days have their dates."""
    assert Timeline.of(observed).day == day


def test_timeline_for_tools_has_all_of_it() -> None:
    """The contract of `--output json`."""
    found = Timeline.of(running()).as_json()
    assert {key: value for key, value in found.items() if key != "steps"} == {
        "namespace": "default",
        "pod": "p",
        "phase": "Running",
        "node": "gpu-lab-worker",
        "asks": {GPU: 1},
        "observed": "2026-12-01T10:00:20.000+00:00",
    }
    assert isinstance(found["steps"], list)
    assert found["steps"][3] == {
        "number": 4,
        "actor": "kubelet",
        "to": "API server",
        "title": {
            "en": "writes allocatable into the node's status",
            "zh": "把 allocatable 写入节点状态",
        },
        "outcome": "done",
        "precision": "bound",
        "time": "2026-12-01T10:00:04.000+00:00",
        "notBefore": "2026-12-01T10:00:01.250+00:00",
        "detail": {"en": f"{GPU}: 2", "zh": f"{GPU}: 2"},
        "source": "node status",
    }
