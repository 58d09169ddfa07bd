"""Steps 5 to 7: how a pod came to a node, and to devices of it."""

import pytest

from lab.harness.timeline.admission import admission
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.step import ANSWER, ASK, SCHEDULE, Step
from tests.unit.harness.timeline.observed import (
    ALLOCATED,
    GPU,
    IDS,
    NODE,
    OFFERED,
    allocate,
    at,
    condition,
    event,
    journal,
    logged,
    pending,
    pod,
    rejected,
    running,
)
from tests.unit.harness.timeline.test_allocation import EMPTY, HOLDING, REFUSED, SHORT

UNSCHEDULED = "0/2 nodes are available: 2 Insufficient fake.example.com/device."
LATER = (logged("scanned", 10),)
BEGINS = "the plugin has been restarted since: its journal begins at 2026-12-01 10:00:10.000"


def step(seen: Observation, number: int) -> Step:
    """Return one of the steps, which come in their order."""
    steps = list(admission(seen))
    assert [each.number for each in steps] == [SCHEDULE, ASK, ANSWER]
    return steps[number - SCHEDULE]


def told(seen: Observation, number: int) -> tuple[str, str, str, str]:
    """Return how a step ended, when, what is said of it, and where that is known from."""
    found = step(seen, number)
    return found.outcome, found.moment.text(at(0)), found.detail.en, found.source


TO = f"to {NODE}"
SCHEDULE_CASES = {
    "told by the event": (running(), ("done", "10:00:05.123", TO, "event")),
    "the kubelet was quicker than the event": (
        running(journal=journal(*OFFERED, allocate(3, 5.1, IDS[0]))),
        ("done", "10:00:05.000 … 10:00:05.100", TO, "event"),
    ),
    "the event has expired": (
        running(events=(), pod=pod(conditions=condition(5))),
        ("done", "10:00:05", TO, "pod status"),
    ),
    "made with its node": (
        running(events=()),
        ("done", "10:00:05", f"{TO}; the pod was made with its node", "pod status"),
    ),
    "no node fits": (
        pending(),
        ("waiting", "10:00:05.500", f"{UNSCHEDULED}; tried 3 times", "event"),
    ),
    "no node fits, by the condition alone": (
        pending(events=()),
        ("waiting", "-", UNSCHEDULED, "pod status"),
    ),
    "by the event alone": (
        pending(
            pod=pod("", phase="Pending", containers=()),
            events=(event("FailedScheduling", 5.5, "0/2 nodes"),),
        ),
        ("waiting", "10:00:05.500", "0/2 nodes", "event"),
    ),
    "nothing said": (
        pending(pod=pod("", phase="Pending", containers=()), events=()),
        ("waiting", "-", "the scheduler has not spoken yet", ""),
    ),
    "being deleted": (
        pending(pod=pod("", phase="Pending", unscheduled=UNSCHEDULED, terminating=True)),
        ("never", "10:00:05.500", f"{UNSCHEDULED}; tried 3 times", "event"),
    ),
    "no pod": (
        running(pod=None, missing={"pod": "there is none"}),
        ("unknown", "-", "there is none", ""),
    ),
}


@pytest.mark.parametrize("case", SCHEDULE_CASES)
def test_binding_is_told_by_the_scheduler(case: str) -> None:
    """By its event, else by the pod's condition, or it says in its words why not."""
    seen, expected = SCHEDULE_CASES[case]
    assert told(seen, SCHEDULE) == expected


ASK_CASES = {
    "asked": (running(), ("done", "10:00:05.200", f"c: {IDS[0]}", "journal")),
    "one of several calls": (
        running(journal=journal(*OFFERED, ALLOCATED, allocate(4, 5.3, IDS[1]))),
        (
            "done",
            "10:00:05.200",
            f"c: {IDS[0]} (most likely: another pod's call looks the same)",
            "journal",
        ),
    ),
    "a node has not come": (pending(), ("waiting", "-", "the pod has no node yet", "")),
    "not yet": (
        running(journal=journal(*OFFERED), events=(), pod=pod(phase="Pending", containers=())),
        ("waiting", "-", "the kubelet has not asked yet", ""),
    ),
    "nobody was asked": (
        rejected((), SHORT),
        ("failed", "10:00:05", f"UnexpectedAdmissionError: {SHORT}", "pod status"),
    ),
    "not let in, and the plugin has forgotten": (
        rejected((), REFUSED, plugin_log=LATER),
        (
            "unknown",
            "10:00:05",
            f"UnexpectedAdmissionError: {REFUSED}; {BEGINS}",
            "pod status",
        ),
    ),
    "the plugin has forgotten": (
        running(journal=journal(), plugin_log=LATER),
        ("unknown", "10:00:05.000 … 10:00:08.000", BEGINS, ""),
    ),
    "the plugin has forgotten, the status has not": (
        running(journal=journal(), plugin_log=LATER, pod=pod(containers=(HOLDING,))),
        ("done", "10:00:05.000 … 10:00:08.000", BEGINS, "pod status"),
    ),
    "no journal": (
        running(journal=None, missing={"journal": "no plugin runs"}),
        ("unknown", "10:00:05.000 … 10:00:08.000", "no plugin runs", ""),
    ),
    "no call in the journal": (
        running(journal=journal(*OFFERED)),
        ("unknown", "10:00:05.000 … 10:00:08.000", "the journal has no call that fits", ""),
    ),
}


@pytest.mark.parametrize("case", ASK_CASES)
def test_asking_is_told_by_the_journal(case: str) -> None:
    """Or it says between which moments it was, or why it was not."""
    seen, expected = ASK_CASES[case]
    assert told(seen, ASK) == expected


GIVEN = "c: 1 variable, 1 device file"
ANSWER_CASES = {
    "answered": (running(), ("done", "10:00:05.202", GIVEN, "journal")),
    "by CDI": (
        running(
            journal=journal(
                *OFFERED,
                allocate(
                    3,
                    5.2,
                    IDS[0],
                    answer={
                        "container_responses": [{"cdi_devices": [{"name": "a"}, {"name": "b"}]}]
                    },
                ),
            )
        ),
        ("done", "10:00:05.202", "c: 2 CDI devices", "journal"),
    ),
    "answered at length": (
        running(journal=journal(*OFFERED, allocate(3, 5.2, IDS[0], answer="too long"))),
        ("done", "10:00:05.202", "c: more than the journal has room for", "journal"),
    ),
    "refused": (
        rejected((allocate(3, 5.2, IDS[0], code="UNKNOWN", fault="rule-1"),), REFUSED),
        (
            "failed",
            "10:00:05.202",
            f"refused: UNKNOWN (rule-1); UnexpectedAdmissionError: {REFUSED}",
            "journal",
        ),
    ),
    "answered with nothing": (
        rejected((allocate(3, 5.2, IDS[0], answer={}),), EMPTY),
        ("failed", "10:00:05.202", f"c: nothing; UnexpectedAdmissionError: {EMPTY}", "journal"),
    ),
    "held": (
        running(
            journal=journal(*OFFERED, allocate(None, 5.2, IDS[0], fault="rule-1")),
            pod=pod(phase="Pending", containers=()),
            events=(),
        ),
        ("waiting", "-", "no answer yet (rule-1)", "journal"),
    ),
    "nobody was asked": (rejected((), SHORT), ("never", "-", "the plugin was not asked", "")),
}


@pytest.mark.parametrize("case", ANSWER_CASES)
def test_answer_is_told_by_the_journal(case: str) -> None:
    """What a container gets, or who refused it and in which words."""
    seen, expected = ANSWER_CASES[case]
    assert told(seen, ANSWER) == expected


def test_every_container_is_told_of() -> None:
    """One call for each of them; the answer is there when all are answered."""
    limits = {"a": {GPU: 1}, "b": {GPU: 1}}
    calls = journal(*OFFERED, ALLOCATED, allocate(4, 5.3, IDS[1]))
    seen = running(pod=pod(limits=limits), journal=calls)
    assert step(seen, ASK).detail.en == f"a: {IDS[0]}; b: {IDS[1]}"
    assert step(seen, ASK).moment.text(at(0)) == "10:00:05.200"
    assert step(seen, ANSWER).moment.text(at(0)) == "10:00:05.302"


def test_many_devices_are_shown_as_far_as_the_journal_has_them() -> None:
    """And how many more there are."""
    ids = [*"abcdefghijklmnop", "and 4 more"]
    seen = running(
        pod=pod(limits={"c": {GPU: 20}}), journal=journal(*OFFERED, allocate(3, 5.2, *ids))
    )
    assert step(seen, ASK).detail.en == f"c: {', '.join('abcdefghijklmnop')}, +4"
