"""Steps 1 to 4: how a node came to have devices that the scheduler knows of."""

from dataclasses import replace

import pytest

from lab.harness.timeline.observation import Observation
from lab.harness.timeline.offering import offering
from lab.harness.timeline.step import ALLOCATABLE, LIST, REGISTER, SCAN, Step
from tests.unit.harness.timeline.observed import (
    ALLOCATED,
    GPU,
    NODE,
    OFFERED,
    SCANNED,
    SCHEDULED,
    at,
    call,
    condition,
    journal,
    listed,
    logged,
    node,
    pending,
    pod,
    rejected,
    running,
)

FORGOTTEN = "the journal keeps the last calls alone, from number 900 on"
WELL = "2 of 2 devices healthy"


def step(seen: Observation, number: int) -> Step:
    """Return one of the steps, which come in their order."""
    steps = list(offering(seen))
    assert [each.number for each in steps] == [SCAN, REGISTER, LIST, ALLOCATABLE]
    return steps[number - 1]


def told(seen: Observation, number: int) -> tuple[str, str, str, str]:
    """Return how a step ended, when, what is said of it, and where that is known from."""
    found = step(seen, number)
    return found.outcome, found.moment.text(at(0)), found.detail.en, found.source


def test_scan_is_what_the_plugin_has_logged() -> None:
    """With what it found."""
    said = f"2 cards, offered as {GPU}"
    assert told(running(), SCAN) == ("done", "10:00:01.100", said, "plugin log")


REGISTER_CASES = {
    "once": (OFFERED, ("done", "10:00:01.200", GPU, "journal")),
    "again, before the pod": (
        (*OFFERED, call(3, "Register", 3)),
        ("done", "10:00:03.000", f"{GPU}; it had registered 1 time before", "journal"),
    ),
    "again, after the pod": (
        (*OFFERED, call(3, "Register", 8)),
        ("done", "10:00:01.200", GPU, "journal"),
    ),
    "refused first": (
        (call(1, "Register", 1, code="UNKNOWN"), call(2, "Register", 2)),
        ("done", "10:00:02.000", GPU, "journal"),
    ),
    "refused": (
        (call(1, "Register", 1, code="UNKNOWN", fault="fault-1"),),
        ("failed", "10:00:01.000", "not accepted: UNKNOWN (fault-1)", "journal"),
    ),
    "held": (
        (call(None, "Register", 1, fault="fault-1"),),
        ("waiting", "10:00:01.000", "not accepted yet (fault-1)", "journal"),
    ),
    "of another resource": (
        (call(1, "Register", 1, resource="other.example.com/device"),),
        ("done", "≤ 10:00:05.123", "the journal has nothing of it", "event"),
    ),
    "forgotten": (
        (call(900, "ListAndWatch", 2),),
        ("done", "≤ 10:00:05.123", FORGOTTEN, "event"),
    ),
}


@pytest.mark.parametrize("case", REGISTER_CASES)
def test_registration_is_the_last_one_before_the_pod(case: str) -> None:
    """Or it says what became of it."""
    calls, expected = REGISTER_CASES[case]
    assert told(running(journal=journal(*calls)), REGISTER) == expected


def test_kubelet_that_refuses_is_quoted() -> None:
    """The journal has the code alone, the plugin's log the words."""
    refused = call(1, "Register", 1.2, code="UNKNOWN")
    words = logged("refused", 1.3, reason='the ResourceName "x" is invalid (UNKNOWN)')
    seen = pending(journal=journal(refused), plugin_log=(SCANNED, words))
    said = 'not accepted: UNKNOWN; the ResourceName "x" is invalid (UNKNOWN)'
    assert step(seen, REGISTER).detail.en == said


LIST_CASES = {
    "one": (OFFERED, ("done", "10:00:01.250", WELL, "journal")),
    "another before the pod": (
        (*OFFERED, listed(3, 4, 2, healthy=1)),
        (
            "done",
            "10:00:01.250",
            f"{WELL}; the last one before the pod, at 10:00:04.000: 1 of 2 devices healthy",
            "journal",
        ),
    ),
    "another after the pod": (
        (*OFFERED, listed(3, 8, 2, healthy=1)),
        ("done", "10:00:01.250", WELL, "journal"),
    ),
    "of an earlier registration": (
        (*OFFERED, call(3, "Register", 2), listed(4, 2.5, 3)),
        ("done", "10:00:02.500", "3 of 3 devices healthy", "journal"),
    ),
    "held": (
        (OFFERED[0], call(None, "ListAndWatch", 1.3, fault="fault-2")),
        ("waiting", "10:00:01.300", "asked for, and not sent yet (fault-2)", "journal"),
    ),
    "none": ((OFFERED[0],), ("done", "≤ 10:00:05.123", "the journal has nothing of it", "event")),
}


@pytest.mark.parametrize("case", LIST_CASES)
def test_list_is_the_first_after_the_registration(case: str) -> None:
    """What the scheduler goes by is the last one before the pod."""
    calls, expected = LIST_CASES[case]
    assert told(running(journal=journal(*calls)), LIST) == expected


def test_every_resource_that_the_pod_asks_for_is_told_of() -> None:
    """The step was done when it was done for the last of them."""
    other = "other.example.com/device"
    calls = (
        *OFFERED,
        call(3, "Register", 1.3, resource=other),
        replace(listed(4, 1.4, 8), resource=other),
        replace(listed(5, 1.5, 1), resource="a.third/one"),
    )
    seen = running(resources=(GPU, other), journal=journal(*calls))
    assert told(seen, REGISTER)[1:3] == ("10:00:01.300", f"{GPU}, {other}")
    said = f"{GPU}: {WELL}; {other}: 8 of 8 devices healthy"
    assert told(seen, LIST)[1:3] == ("10:00:01.400", said)


def test_resource_that_is_not_accepted_is_named_where_there_are_others() -> None:
    """The pod needs both."""
    other = "other.example.com/device"
    refused = call(3, "Register", 1.3, resource=other, code="UNKNOWN")
    seen = pending(resources=(GPU, other), journal=journal(*OFFERED, refused))
    expected = ("failed", "10:00:01.300", f"{other}: not accepted: UNKNOWN", "journal")
    assert told(seen, REGISTER) == expected
    assert step(seen, LIST).outcome == "unknown"


ALLOCATABLE_CASES = {
    "reported before the pod": (running(), ("done", "10:00:01.250 … 10:00:04.000")),
    "reported after the pod": (
        running(node_status=node(heard=9)),
        ("done", "10:00:01.250 … 10:00:05.123"),
    ),
    "reported before the list": (
        running(node_status=node(heard=1)),
        ("done", "10:00:01.250 … 10:00:05.123"),
    ),
    "bound in a whole second": (
        running(events=(), pod=pod(conditions=condition(5)), node_status=node(heard=9)),
        ("done", "10:00:01.250 … 10:00:06.000"),
    ),
    "no list is known": (
        running(journal=None, node_status=node(heard=9)),
        ("done", "≤ 10:00:05.123"),
    ),
    "no pod on it": (pending(), ("done", "10:00:01.250 … 10:00:04.000")),
    "seen just now": (
        pending(node_status=node(heard=None)),
        ("done", "10:00:01.250 … 10:00:20.000"),
    ),
    "not yet": (pending(node_status=node(0)), ("waiting", "-")),
    "rejected by a node that never had it": (
        rejected((), "no", events=(), node_status=node(0)),
        ("waiting", "-"),
    ),
    "placed, and gone since": (
        rejected((), "no", node_status=node(0)),
        ("done", "10:00:01.250 … 10:00:04.000"),
    ),
    "no answer": (running(node_status=None, missing={"node": "gone"}), ("unknown", "-")),
}


@pytest.mark.parametrize("case", ALLOCATABLE_CASES)
def test_allocatable_has_bounds(case: str) -> None:
    """From the list to whatever must have come after it first."""
    seen, expected = ALLOCATABLE_CASES[case]
    assert told(seen, ALLOCATABLE)[:2] == expected


NUMBER_CASES = {
    "as it was": (running(), f"{GPU}: 2"),
    "another since": (running(node_status=node(1)), f"{GPU}: 2; now {GPU}: 1"),
    "one list after the pod": (
        running(node_status=node(1), journal=journal(*OFFERED, listed(3, 8, 2, healthy=1))),
        f"{GPU}: 2; now {GPU}: 1",
    ),
    "two lists before the pod": (
        running(node_status=node(1), journal=journal(*OFFERED, listed(3, 4, 2, healthy=1))),
        f"now {GPU}: 1",
    ),
    "no list is known": (running(journal=None), f"now {GPU}: 2"),
}


@pytest.mark.parametrize("case", NUMBER_CASES)
def test_number_beside_a_time_is_that_of_the_time(case: str) -> None:
    """What the node shows now is told as such."""
    seen, said = NUMBER_CASES[case]
    assert step(seen, ALLOCATABLE).detail.en == said


def test_allocatable_that_has_not_come_says_when_the_kubelet_was_heard() -> None:
    """Its next report may bring it."""
    said = f"{NODE}: {GPU}: 0; the kubelet's last report is of 2026-12-01 10:00:03"
    assert step(pending(node_status=node(0)), ALLOCATABLE).detail.en == said


def test_plugin_that_was_restarted_since_knows_nothing_of_the_pod() -> None:
    """Its own start, registration and list are those of other pods."""
    later = tuple(replace(each, time=at(each.time.second + 9)) for each in OFFERED)
    seen = running(journal=journal(*later), plugin_log=(logged("scanned", 10),))
    since = "its log and its journal begin at 2026-12-01 10:00:10.000"
    said = f"the plugin has been restarted since: {since}"
    for number in (SCAN, REGISTER, LIST):
        assert told(seen, number) == ("done", "≤ 10:00:05.123", said, "event")


def test_what_led_to_no_placing_need_not_have_been() -> None:
    """A pod that was made with its node may have come to one without devices."""
    seen = rejected((), "no", events=(), plugin_log=(logged("scanned", 10),))
    assert (step(seen, SCAN).outcome, step(seen, SCAN).moment.at) == ("unknown", None)


def test_restart_shows_in_the_journal_alone_where_there_is_no_log() -> None:
    """A journal that begins with number 1 has all since the plugin's start."""
    seen = running(journal=journal(call(1, "Register", 9)), plugin_log=())
    assert step(seen, REGISTER).detail.en.endswith("begin at 2026-12-01 10:00:09.000")


@pytest.mark.parametrize(
    ("peers", "said"), [(1, NODE), (3, f"{NODE}, one of 3 nodes that have it")]
)
def test_node_is_named_where_the_pod_has_none(peers: int, said: str) -> None:
    """It could come to any of those."""
    assert step(pending(peers=peers), SCAN).detail.en.startswith(f"{said}: 2 cards")


@pytest.mark.parametrize(("number", "part"), [(SCAN, "plugin log"), (REGISTER, "journal")])
def test_source_that_does_not_answer_is_quoted(number: int, part: str) -> None:
    """Why a step is unknown is in the words of whoever refused."""
    seen = pending(journal=None, plugin_log=(), missing={part: "no plugin runs on the node"})
    assert told(seen, number) == ("unknown", "-", "no plugin runs on the node", "")


def test_times_of_allocation_do_not_matter_here() -> None:
    """What comes after the pod's binding is told by the later steps."""
    calls = (*OFFERED, ALLOCATED, listed(4, 6, 1))
    before = list(offering(running(journal=journal(*OFFERED), events=(SCHEDULED,))))
    assert list(offering(running(journal=journal(*calls), events=(SCHEDULED,)))) == before
