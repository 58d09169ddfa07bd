"""Which of a node's Allocate calls were for a pod."""

from dataclasses import replace

import pytest

from lab.cluster.objects import Container
from lab.cluster.plugin.journal import Call
from lab.harness.timeline.allocation import Devices, allocations
from lab.harness.timeline.observation import Observation
from tests.unit.harness.timeline.observed import (
    ALLOCATED,
    CONTAINER,
    GPU,
    IDS,
    OFFERED,
    allocate,
    at,
    journal,
    pod,
    rejected,
    running,
)

HOLDING = replace(CONTAINER, devices={GPU: (IDS[0],)})
REFUSED = "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = device busy"
EMPTY = "Pod was rejected: Allocate failed due to no containers return in allocation response"
SHORT = "Pod was rejected: Allocate failed due to requested number of devices unavailable"
PREFERRED = "Pod was rejected: Allocate failed due to device plugin GetPreferredAllocation rpc"


def numbers(seen: Observation) -> list[tuple[str, int | None, bool]]:
    """Return container, number and certainty of the calls that are taken for the pod's."""
    return [(each.asked.container, each.call.number, each.is_sure) for each in allocations(seen)]


def after(*calls: Call) -> Observation:
    """Return a pod of which the kubelet does not tell its devices, with these calls."""
    return running(journal=journal(*OFFERED, *calls))


ONE_CONTAINER = {
    "its own": ((ALLOCATED,), [("c", 3, True)]),
    "just before the scheduler spoke": ((allocate(3, 5.11, "a"),), [("c", 3, True)]),
    "before the pod was made": ((allocate(3, 4.9, "a"),), []),
    "after its container started": ((allocate(3, 8.1, "a"),), []),
    "of another size": ((allocate(3, 5.2, "a", "b"),), []),
    "of another resource": ((allocate(3, 5.2, "a", resource="other.example.com/d"),), []),
    "that failed": ((allocate(3, 5.2, "a", code="UNKNOWN"),), []),
    "the next to the binding": (
        (allocate(3, 5.5, "a"), allocate(4, 5.13, "b"), allocate(5, 5.9, "c")),
        [("c", 4, False)],
    ),
    "one that is not answered": ((allocate(None, 5.2, "a"),), [("c", None, True)]),
}


@pytest.mark.parametrize("case", ONE_CONTAINER)
def test_call_fits_by_time_resource_size_and_end(case: str) -> None:
    """Where several do, the likeliest is taken, and is not sure."""
    calls, expected = ONE_CONTAINER[case]
    assert numbers(after(*calls)) == expected


def test_devices_that_a_container_holds_decide() -> None:
    """Whatever other call is nearer, from Kubernetes 1.36 on."""
    calls = (allocate(3, 5.13, IDS[1]), allocate(4, 5.5, IDS[0]))
    seen = replace(after(*calls), pod=pod(containers=(HOLDING,)))
    assert numbers(seen) == [("c", 4, True)]


def test_each_container_has_a_call_of_its_own() -> None:
    """Init containers too, of which the kubelet does not tell the devices."""
    limits = {"init": {GPU: 1}, "c": {GPU: 1}, "idle": {GPU: 0}, "plain": {}}
    calls = (allocate(3, 5.2, IDS[1]), allocate(4, 5.21, IDS[0]))
    several = pod(limits=limits, containers=(HOLDING,), init_containers=(Container("init"),))
    assert numbers(replace(after(*calls), pod=several)) == [("init", 3, True), ("c", 4, True)]


@pytest.mark.parametrize(
    ("why", "calls", "expected"),
    [
        (REFUSED, (allocate(3, 5.2, "a", code="UNKNOWN"),), [3]),
        (REFUSED, (allocate(3, 5.2, "a"),), []),
        (EMPTY, (allocate(3, 5.2, "a"),), [3]),
        (EMPTY, (allocate(3, 5.2, "a", code="UNKNOWN"),), []),
        (SHORT, (allocate(3, 5.2, "a"),), []),
        (PREFERRED, (allocate(3, 5.2, "a", code="UNKNOWN"),), []),
        (REFUSED, (allocate(3, 5.2, "a", code="UNKNOWN"), allocate(4, 5.4, "a")), [3]),
    ],
)
def test_call_of_a_pod_that_was_not_let_in_ended_as_the_kubelet_says(
    why: str, calls: tuple[Call, ...], expected: list[int]
) -> None:
    """A pod for which the plugin was not asked takes nobody else's call."""
    assert [number for _, number, _ in numbers(rejected(calls, why))] == expected


def test_devices_that_another_pod_holds_were_for_that_one() -> None:
    """As its own status says."""
    other = pod(containers=(replace(CONTAINER, devices={GPU: (IDS[1],)}),))
    calls = (allocate(3, 5.13, IDS[1]), allocate(4, 5.9, IDS[0]))
    assert numbers(replace(after(*calls), others=(other,))) == [("c", 4, True)]


def test_call_may_be_that_of_another_pod_that_waits_too() -> None:
    """A call that hangs keeps everybody waiting, and names nobody."""
    waiting = pod(phase="Pending", containers=())
    seen = replace(after(allocate(None, 5.2, IDS[0])), pod=waiting, events=(), others=(waiting,))
    assert numbers(seen) == [("c", None, False)]


def test_pod_without_a_node_has_no_call() -> None:
    """Nobody has asked for it."""
    assert numbers(running(pod=pod(""), events=())) == []


@pytest.mark.parametrize(
    ("ids", "count", "shown"),
    [
        (["a", "b"], 2, ("a", "b")),
        ([*"abcdefghijklmnop", "and 84 more"], 100, tuple("abcdefghijklmnop")),
        ([], 0, ()),
    ],
)
def test_devices_of_a_request_are_counted(
    ids: list[str], count: int, shown: tuple[str, ...]
) -> None:
    """The journal shows sixteen of a list, and how many more there are."""
    request = {"container_requests": [{"devices_ids": list[object](ids)}]}
    assert Devices.of_request(request) == Devices(count, shown)  # type: ignore[arg-type]  # plain JSON


@pytest.mark.parametrize("request_", ["too long", {}, None, {"container_requests": "?"}])
def test_request_that_is_not_shown_has_no_devices(request_: str | dict[str, str] | None) -> None:
    """The journal leaves out what takes too much room."""
    assert Devices.of_request(request_) == Devices(0, ())  # type: ignore[arg-type]  # plain JSON


def test_answer_came_when_the_call_had_ended() -> None:
    """A call has the moment of its beginning, and how long it took."""
    (found,) = allocations(running())
    assert found.answered_at == at(5.202)
    (still,) = allocations(after(allocate(None, 5.2, IDS[0])))
    assert still.answered_at is None
