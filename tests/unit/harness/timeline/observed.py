"""What is observed of a pod, made of a few words, for tests and for the picture in the docs.

Seconds count from 10:00:00. The kubelet reports whole seconds, the scheduler and the plugin
milliseconds.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fake_plugin.faults.fault import Call as Method
from lab.cluster.objects import Condition, Container, Event, Node, Pod
from lab.cluster.plugin.journal import Call, Journal
from lab.harness.timeline.observation import LogLine, Observation

GPU: Final = "fake.example.com/device"
NODE: Final = "gpu-lab-worker"
IDS: Final = ("fake-0a", "fake-1b")
_START: Final = datetime(2026, 12, 1, 10, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return a moment by the seconds since the start."""
    return _START + timedelta(seconds=seconds)


def call(number: int | None, method: Method, seconds: float, **more: Any) -> Call:  # noqa: ANN401 - fields of several types
    """Return a call of the journal that took 2 ms, or as `more` says; an open one has no number."""
    ended: dict[str, Any] = {} if number is None else {"ended": 2.0, "code": "OK"}
    fields = {"started": 0.0, "request": {}, "resource": GPU, **ended, **more}
    return Call(number=number, time=at(seconds), call=method, **fields)


def listed(number: int, seconds: float, count: int, healthy: int | None = None) -> Call:
    """Return one message of ListAndWatch."""
    devices = {"devices": count, "healthy": count if healthy is None else healthy}
    answer = {**devices, "unhealthy": []}
    return call(number, "ListAndWatch", seconds, code="", sent=1, answer=answer)


def allocate(number: int | None, seconds: float, *ids: str, **more: Any) -> Call:  # noqa: ANN401 - see above
    """Return a call for one container, answered as the plugin of plain devices does."""
    variables = {"GPULAB_VISIBLE_DEVICES": ",".join(ids)}
    files = [{"container_path": f"/dev/gpulab/{each}"} for each in ids]
    answer = {"container_responses": [{"envs": variables, "devices": files}]}
    given = {} if number is None or more else {"answer": answer}
    request = {"container_requests": [{"devices_ids": [*ids]}]}
    return call(number, "Allocate", seconds, **{"request": request, **given, **more})


def event(reason: str, seconds: float, message: str = "", count: int = 1) -> Event:
    """Return an event of the pod."""
    source = "default-scheduler" if "chedul" in reason else "kubelet"
    first = at(seconds)
    return Event("Pod", "p", "u", "Normal", reason, message, source, count, first, first)


def logged(name: str, seconds: float, **facts: Any) -> LogLine:  # noqa: ANN401 - facts of several types
    """Return a line of the plugin's log."""
    return LogLine(at(seconds), name, facts)


SCANNED: Final = logged("scanned", 1.1, cards=2, resources=[GPU])
#: Up to a list with two devices.
OFFERED: Final = (call(1, "Register", 1.2), listed(2, 1.25, 2))
SCHEDULED: Final = event("Scheduled", 5.123456)
STARTED: Final = (event("Created", 6), event("Started", 7))
CONTAINER: Final = Container("c", "running", "id", ready=True, started=at(7))
ALLOCATED: Final = allocate(3, 5.2, IDS[0])


def pod(node: str = NODE, **more: Any) -> Pod:  # noqa: ANN401 - fields of several types
    """Return a pod of one container that asks for one device."""
    fields: dict[str, Any] = {
        "phase": "Running",
        "reason": "",
        "message": "",
        "unscheduled": "",
        "limits": {"c": {GPU: 1}},
        "requests": {GPU: 1},
        "conditions": {},
        "containers": (CONTAINER,),
        "init_containers": (),
        "terminating": False,
        **more,
    }
    return Pod("default", "p", "u", {}, {}, node, created=at(5), images=("i",), **fields)


def node(devices: int = 2, heard: float | None = 3) -> Node:
    """Return the node, with the time of its kubelet's last report."""
    amounts = {GPU: devices} if devices else {}
    last = None if heard is None else at(heard)
    return Node(NODE, True, "v1", {}, frozenset(), amounts, amounts, last)  # noqa: FBT003 - in order


def running(**more: Any) -> Observation:  # noqa: ANN401 - fields of several types
    """Return all that is known of a pod that runs, or what of it `more` says."""
    whole = Observation(
        namespace="default",
        name="p",
        at=at(20),
        pod=pod(),
        resources=(GPU,),
        node=NODE,
        peers=1,
        node_status=node(),
        events=(SCHEDULED, *STARTED),
        journal=journal(*OFFERED, ALLOCATED),
        plugin_log=(SCANNED,),
        pod_logs={"c": f"{IDS[0]}\n"},
    )
    return replace(whole, **more)


def journal(*calls: Call) -> Journal:
    """Return a journal with these calls."""
    ended = tuple(each for each in calls if not each.is_open)
    return Journal(ended, len(ended) + 1, tuple(each for each in calls if each.is_open))


def pending(**more: Any) -> Observation:  # noqa: ANN401 - fields of several types
    """Return a pod that the scheduler has found no node for."""
    words = "0/2 nodes are available: 2 Insufficient fake.example.com/device."
    unscheduled = pod("", phase="Pending", unscheduled=words, containers=())
    said = {"events": (event("FailedScheduling", 5.5, words, count=3),), "pod_logs": {}}
    known = {"pod": unscheduled, "journal": journal(*OFFERED), **said}
    return running(**{**known, **more})


def rejected(calls: tuple[Call, ...], why: str, **more: Any) -> Observation:  # noqa: ANN401 - see above
    """Return a pod that the kubelet did not let in, with the calls that came after the list."""
    reason = "UnexpectedAdmissionError"
    failed = pod(phase="Failed", reason=reason, message=why, containers=())
    events = (SCHEDULED, event(reason, 5, why))
    seen = {"pod": failed, "events": events, "pod_logs": {}, "journal": journal(*OFFERED, *calls)}
    return running(**{**seen, **more})


def condition(seconds: float) -> Mapping[str, Condition]:
    """Return that the pod has a node since a moment."""
    return {"PodScheduled": Condition("True", "", "", at(seconds))}
