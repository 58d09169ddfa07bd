"""From the API's JSON to the lab's own values."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lab.cluster import reading
from lab.cluster.objects import Condition, Container, Event, Node, Pod

GPU = "fake.example.com/device"
LATER = "2026-12-01T10:00:05Z"
META = {"name": "w", "namespace": "default"}


def asking(count: int | str = 0, **more: object) -> dict[str, Any]:
    """Return a container that asks for this many devices, and for some processor time."""
    requests = {"cpu": "10m"} | ({GPU: str(count)} if count else {})
    return {"name": "c", "image": "i", "resources": {"requests": requests}, **more}


def sidecar(count: int) -> dict[str, Any]:
    """Return an init container that goes on running."""
    return asking(count, restartPolicy="Always")


def container(name: str, restarts: int, **state: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a container in this state."""
    about = {"name": name, "restartCount": restarts, "state": state}
    return {**about, "ready": "running" in state}


def pod_of(status: dict[str, Any], **spec: object) -> Pod:
    """Read a pod with this status."""
    return reading.pod(
        {"metadata": META, "spec": {"containers": [asking()], **spec}, "status": status}
    )


def test_node_is_read() -> None:
    """Of the resources only the extended ones are kept."""
    amounts = {"cpu": "8", "memory": "16Gi", "hugepages-2Mi": "0", GPU: "2"}
    found = reading.node(
        {
            "metadata": {"name": "w", "labels": {"a": "b"}},
            "spec": {"taints": [{"key": "gpu", "value": "present", "effect": "NoSchedule"}]},
            "status": {
                "nodeInfo": {"kubeletVersion": "v1.36.3"},
                "conditions": [
                    {"type": "MemoryPressure", "status": "False"},
                    {
                        "type": "Ready",
                        "status": "True",
                        "lastHeartbeatTime": "2026-12-01T10:00:00Z",
                    },
                ],
                "capacity": amounts,
                "allocatable": amounts | {GPU: "1"},
            },
        }
    )
    taints = frozenset({("gpu", "present", "NoSchedule")})
    assert found == Node(
        name="w",
        ready=True,
        version="v1.36.3",
        labels={"a": "b"},
        taints=taints,
        capacity={GPU: 2},
        allocatable={GPU: 1},
        heard=datetime(2026, 12, 1, 10, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("heartbeat", "heard"),
    [
        (None, False),
        ("2026-12-01T09:59:59Z", False),
        ("2026-12-01T10:00:00Z", False),
        ("2026-12-01T10:00:01+00:00", True),
    ],
)
def test_node_is_heard_after_a_moment(heartbeat: str | None, *, heard: bool) -> None:
    """What a node said before it was stopped is not taken for its word."""
    ready = {"type": "Ready", "status": "True"}
    stamp = {"lastHeartbeatTime": heartbeat} if heartbeat else {}
    found = reading.node({"metadata": {"name": "w"}, "status": {"conditions": [ready | stamp]}})
    assert found.heard_since(datetime(2026, 12, 1, 10, 0, 0, 500, tzinfo=UTC)) == heard


@pytest.mark.parametrize("status", [{}, {"nodeInfo": {}}, {"conditions": []}])
def test_node_that_has_not_reported_is_not_ready_and_has_nothing(status: dict[str, Any]) -> None:
    """A node exists before its kubelet says anything of it."""
    found = reading.node({"metadata": {"name": "w"}, "spec": {}, "status": status})
    assert (found.ready, found.version, found.capacity, found.allocatable) == (False, "", {}, {})


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_node_is_ready_only_where_its_condition_is_true(status: str) -> None:
    """Unknown is what a node says whose kubelet is silent."""
    conditions = [{"type": "Ready", "status": status}]
    found = reading.node(
        {"metadata": {"name": "w"}, "spec": {}, "status": {"conditions": conditions}}
    )
    assert not found.ready


def test_taint_without_a_value_is_read() -> None:
    """The control plane's own taint has none."""
    taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    found = reading.node({"metadata": {"name": "c"}, "spec": {"taints": [taint]}, "status": {}})
    assert found.taints == {("node-role.kubernetes.io/control-plane", "", "NoSchedule")}


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("2", 2), ("12k", 12_000), ("20000", 20_000), ("1M", 1_000_000)]
)
def test_quantity_is_a_whole_number(text: str, number: int) -> None:
    """The API server shortens what it can: 12000 devices arrive as `12k`."""
    assert reading.extended_resources({GPU: text}) == {GPU: number}


@pytest.mark.parametrize(
    ("init", "containers", "counted"),
    [
        pytest.param([], [asking(1)], 1, id="one container"),
        pytest.param([], [asking(1), asking(2)], 3, id="containers add up"),
        pytest.param([asking(4)], [asking(1), asking(2)], 4, id="a larger init counts alone"),
        pytest.param([asking(2)], [asking(1), asking(2)], 3, id="a smaller init does not count"),
        pytest.param([asking(2), asking(3)], [asking(1)], 3, id="inits follow each other"),
        pytest.param([sidecar(2)], [asking(1)], 3, id="a sidecar adds to the containers"),
        pytest.param([sidecar(2), asking(3)], [asking(1)], 5, id="and to the inits after it"),
        pytest.param([asking(3), sidecar(2)], [asking(1)], 3, id="not to those before it"),
        pytest.param([sidecar(1), sidecar(2)], [asking(1)], 4, id="sidecars add up"),
        pytest.param([asking(1), sidecar(1), asking(5)], [asking(2)], 6, id="all of it"),
        pytest.param([], [asking("1k")], 1000, id="a shortened quantity"),
    ],
)
def test_requests_are_counted_as_the_scheduler_does(
    init: list[dict[str, Any]], containers: list[dict[str, Any]], counted: int
) -> None:
    """The largest of: an init beside the sidecars before it, or all that runs in the end."""
    assert reading.requests({"initContainers": init, "containers": containers}) == {GPU: counted}


def test_pod_without_devices_requests_none() -> None:
    """Processor time is not the lab's business."""
    assert reading.requests({"containers": [asking(), {"name": "bare"}]}) == {}


def test_limits_are_told_by_container() -> None:
    """The kubelet allocates by limits, for one container after the other."""
    init = {"name": "i", "image": "i", "resources": {"limits": {"cpu": "1", GPU: "2"}}}
    assert pod_of({}, initContainers=[init]).limits == {"i": {GPU: 2}, "c": {}}


def test_devices_of_a_container_are_read() -> None:
    """A kubelet from 1.36 on says which ones a container holds."""
    held = [{"name": GPU, "resources": [{"resourceID": "b", "health": "Healthy"}]}]
    status = container("c", 0, running={}) | {"allocatedResourcesStatus": held}
    (read,) = pod_of({"containerStatuses": [status]}).containers
    assert (read.devices, read.unhealthy) == ({GPU: ("b",)}, frozenset())


def test_devices_that_a_kubelet_calls_unhealthy_are_read() -> None:
    """Of all resources that the container holds."""
    broken, sound = (
        {"resourceID": each, "health": how} for each, how in (("b", "Unhealthy"), ("a", "Healthy"))
    )
    held = [{"name": GPU, "resources": [broken, sound]}]
    status = container("c", 0, running={}) | {"allocatedResourcesStatus": held}
    assert pod_of({"containerStatuses": [status]}).containers[0].unhealthy == {"b"}


def test_conditions_are_read() -> None:
    """With the moment since when it is so."""
    said = {"status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}
    condition = {"type": "PodScheduled", "lastTransitionTime": LATER, **said}
    assert pod_of({"conditions": [condition]}).conditions == {
        "PodScheduled": Condition(**said, since=datetime.fromisoformat(LATER))
    }


def test_running_pod_is_read() -> None:
    """Restarts are those of all containers."""
    started = {"startedAt": "2026-12-01T10:00:00Z"}
    running = container("a", 2, running=started), container("b", 2, running=started)
    found = pod_of({"phase": "Running", "containerStatuses": running}, nodeName="n")
    assert (found.node, found.ready, found.restarts, found.images) == ("n", True, 4, ("i",))
    assert found.containers[1] == Container(
        "b", "running", ready=True, restarts=2, started=datetime(2026, 12, 1, 10, tzinfo=UTC)
    )


def test_pod_that_was_refused_says_why() -> None:
    """What the kubelet does not let in has no containers."""
    said = {"reason": "UnexpectedAdmissionError", "message": "no healthy devices present"}
    found = pod_of({"phase": "Failed", **said})
    assert {"reason": found.reason, "message": found.message} == said
    assert found.containers == ()


@pytest.mark.parametrize(("status", "text"), [("False", "0/2 nodes"), ("True", "")])
def test_pod_without_a_node_says_why(status: str, text: str) -> None:
    """In the scheduler's words, as long as it has found none."""
    condition = {"type": "PodScheduled", "status": status, "message": "0/2 nodes"}
    assert pod_of({"phase": "Pending", "conditions": [condition]}).unscheduled == text


def test_container_that_has_ended_has_a_code() -> None:
    """And why it ended."""
    ended = container("a", 0, terminated={"exitCode": 137, "reason": "Error"})
    (found,) = pod_of({"phase": "Failed", "containerStatuses": [ended]}).containers
    assert (found.state, found.exit_code, found.reason) == ("terminated", 137, "Error")


@pytest.mark.parametrize(
    "written",
    [
        {"count": 3, "firstTimestamp": "2026-12-01T10:00:00Z", "lastTimestamp": LATER},
        {"series": {"count": 3, "lastObservedTime": LATER}, "eventTime": "2026-12-01T10:00:00Z"},
    ],
    ids=["v1", "events.k8s.io"],
)
def test_event_is_read_in_either_way_of_writing(written: dict[str, Any]) -> None:
    """The scheduler writes in the new way, the kubelet in the old one."""
    about = {"kind": "Pod", "name": "w", "uid": "u"}
    said = {"type": "Warning", "reason": "FailedScheduling", "message": "0/2 nodes"}
    source = {"reportingComponent": "default-scheduler"}
    assert reading.event({"involvedObject": about, **said, **source, **written}) == Event(
        about="Pod",
        name="w",
        uid="u",
        type="Warning",
        reason="FailedScheduling",
        message="0/2 nodes",
        source="default-scheduler",
        count=3,
        first=datetime(2026, 12, 1, 10, tzinfo=UTC),
        last=datetime.fromisoformat(LATER),
    )


@pytest.mark.parametrize(
    ("name", "first"),
    [
        pytest.param(
            "w.18ed64f287200b0d", "2026-12-02T09:13:39.202583+00:00", id="the same second"
        ),
        pytest.param("w.18ed64f287", "2026-12-02T09:13:39+00:00", id="too few digits"),
        pytest.param("w.18ed64e0a9ba14c9", "2026-12-02T09:13:39+00:00", id="another moment"),
        pytest.param("chosen", "2026-12-02T09:13:39+00:00", id="somebody's own name"),
    ],
)
def test_event_has_its_exact_moment_in_its_name(name: str, first: str) -> None:
    """Its times are cut off to seconds; a name that does not agree with them is not believed."""
    stamp = "2026-12-02T09:13:39Z"
    times = {"firstTimestamp": stamp, "lastTimestamp": stamp}
    found = reading.event({"metadata": {"name": name}, "involvedObject": {}, **times})
    assert found.first == found.last == datetime.fromisoformat(first)


@pytest.mark.parametrize("ready", [[], [False], [True, False]])
def test_pod_is_ready_only_when_all_its_containers_are(ready: list[bool]) -> None:
    """A pod whose containers are not there yet is not."""
    statuses = [{"name": "c", "ready": each, "restartCount": 0} for each in ready]
    assert not pod_of({"phase": "Pending", "containerStatuses": statuses}).ready


def test_new_pod_has_no_node() -> None:
    """Between creation and scheduling there is hardly anything to read."""
    found = pod_of({})
    assert (found.node, found.phase, found.restarts) == ("", "", 0)


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        ({"reason": "ContainerCreating"}, "ContainerCreating"),
        (
            {"reason": "ErrImageNeverPull", "message": 'Image "x" is not present'},
            'ErrImageNeverPull: Image "x" is not present',
        ),
        ({"message": "no reason given"}, "no reason given"),
        ({}, ""),
    ],
)
def test_waiting_container_says_why(waiting: dict[str, str], text: str) -> None:
    """What the kubelet says goes into the error of a wait that ended in vain."""
    status = container("c", 0, waiting=waiting)
    assert pod_of({"containerStatuses": [status]}).waiting == text


def test_several_reasons_are_told_apart() -> None:
    """One container may lack its image while another crashes."""
    statuses = [
        container("c", 0, waiting={"reason": reason})
        for reason in ("ErrImageNeverPull", "CrashLoopBackOff")
    ]
    found = pod_of({"containerStatuses": statuses})
    assert found.waiting == "ErrImageNeverPull; CrashLoopBackOff"
