"""From the API's JSON to the values of `lab.cluster.objects`."""

import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from kubernetes.utils.quantity import parse_quantity

from lab.cluster.objects import Condition, Container, Event, Node, Pod

Json = Mapping[str, Any]

_NANOSECONDS: Final = re.compile("[0-9a-f]{16}")


def node(found: Json) -> Node:
    """Read a v1 Node; one whose kubelet has not reported yet is not Ready and has nothing."""
    status = found.get("status", {})
    conditions = {each["type"]: each for each in status.get("conditions", ())}
    ready = conditions.get("Ready", {})
    heard = ready.get("lastHeartbeatTime")
    taints = found.get("spec", {}).get("taints", ())
    return Node(
        name=found["metadata"]["name"],
        ready=ready.get("status") == "True",
        version=status.get("nodeInfo", {}).get("kubeletVersion", ""),
        labels=found["metadata"].get("labels", {}),
        taints=frozenset((each["key"], each.get("value", ""), each["effect"]) for each in taints),
        capacity=extended_resources(status.get("capacity", {})),
        allocatable=extended_resources(status.get("allocatable", {})),
        heard=_moment(heard),
        # The node controller sets it, which has not heard of the kubelet.
        lost=ready.get("status") == "Unknown",
    )


def pod(found: Json) -> Pod:
    """Read a v1 Pod."""
    meta, spec, status = found["metadata"], found["spec"], found.get("status", {})
    conditions = {each["type"]: each for each in status.get("conditions", ())}
    scheduled = conditions.get("PodScheduled", {})
    return Pod(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta.get("uid", ""),
        labels=meta.get("labels", {}),
        annotations=meta.get("annotations", {}),
        node=spec.get("nodeName", ""),
        phase=status.get("phase", ""),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        unscheduled=scheduled.get("message", "") if scheduled.get("status") == "False" else "",
        terminating="deletionTimestamp" in meta,
        created=_moment(meta.get("creationTimestamp")),
        images=tuple(each["image"] for each in spec["containers"]),
        requests=requests(spec),
        limits={
            each["name"]: extended_resources(each.get("resources", {}).get("limits", {}))
            for each in (*spec.get("initContainers", ()), *spec["containers"])
        },
        conditions={kind: _condition(each) for kind, each in conditions.items()},
        containers=tuple(map(_container, status.get("containerStatuses", ()))),
        init_containers=tuple(map(_container, status.get("initContainerStatuses", ()))),
    )


def _condition(found: Json) -> Condition:
    return Condition(
        status=found["status"],
        reason=found.get("reason", ""),
        message=found.get("message", ""),
        since=_moment(found.get("lastTransitionTime")),
    )


def _container(found: Json) -> Container:
    states = found.get("state") or {"waiting": {}}
    ((state, about),) = states.items()
    return Container(
        name=found["name"],
        state=state,
        id=found.get("containerID", ""),
        ready=found["ready"],
        restarts=found["restartCount"],
        reason=about.get("reason", ""),
        message=about.get("message", ""),
        exit_code=about.get("exitCode"),
        started=_moment(about.get("startedAt")),
        finished=_moment(about.get("finishedAt")),
        devices={
            each["name"]: tuple(held["resourceID"] for held in each.get("resources", ()))
            for each in found.get("allocatedResourcesStatus", ())
        },
        unhealthy=frozenset(
            held["resourceID"]
            for each in found.get("allocatedResourcesStatus", ())
            for held in each.get("resources", ())
            if held.get("health") == "Unhealthy"
        ),
    )


def event(found: Json) -> Event:
    """Read a v1 Event, be it written in the old way or in that of events.k8s.io."""
    about, series = found["involvedObject"], found.get("series") or {}
    first = _first_time(found)
    last = _moment(series.get("lastObservedTime") or found.get("lastTimestamp"))
    return Event(
        about=about.get("kind", ""),
        name=about.get("name", ""),
        uid=about.get("uid", ""),
        type=found.get("type", ""),
        reason=found.get("reason", ""),
        message=found.get("message", ""),
        source=found.get("reportingComponent") or found.get("source", {}).get("component", ""),
        count=series.get("count") or found.get("count") or 1,
        first=first,
        last=max(last, first) if last and first else last or first,
    )


def _first_time(found: Json) -> datetime | None:
    """Return when an event was first written down, as exactly as it tells.

    Its times are cut off to seconds, but its name ends with the nanoseconds of the same moment in
    hexadecimal digits. Source: client-go, tools/record/event.go (makeEvent).
    """
    told = _moment(found.get("firstTimestamp") or found.get("eventTime"))
    digits = found.get("metadata", {}).get("name", "").rpartition(".")[2]
    if told is None or not _NANOSECONDS.fullmatch(digits):
        return told
    exact = datetime.fromtimestamp(int(digits, 16) // 1000 / 1_000_000, UTC)
    return exact if exact.replace(microsecond=0) == told else told


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def requests(spec: Json) -> Mapping[str, int]:
    """Return what the scheduler counts: the containers together, or more where an init asks more.

    Source: Kubernetes, component-helpers/resource/helpers.go. Init containers that restart
    (sidecars) go on beside the others, so they add to what comes after them.
    """
    running: Counter[str] = Counter()
    largest: Counter[str] = Counter()
    for container in spec.get("initContainers", ()):
        if container.get("restartPolicy") == "Always":
            running += _asked(container)
            largest |= running
        else:
            largest |= running + _asked(container)
    for container in spec["containers"]:
        running += _asked(container)
    return dict(largest | running)


def extended_resources(quantities: Mapping[str, str]) -> dict[str, int]:
    """Keep the extended resources, as numbers: a large count arrives as `12k`."""
    return {name: int(parse_quantity(text)) for name, text in quantities.items() if "/" in name}


def _asked(container: Json) -> Counter[str]:
    return Counter(extended_resources(container.get("resources", {}).get("requests", {})))
