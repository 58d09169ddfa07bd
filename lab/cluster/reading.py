"""From the API's JSON to the values of `lab.cluster.objects`."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kubernetes.utils.quantity import parse_quantity

from lab.cluster.objects import Node, Pod

Json = Mapping[str, Any]


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
        heard=datetime.fromisoformat(heard) if heard else None,
    )


def pod(found: Json) -> Pod:
    """Read a v1 Pod."""
    spec, status = found["spec"], found.get("status", {})
    containers = status.get("containerStatuses", ())
    waiting = (each.get("state", {}).get("waiting") for each in containers)
    return Pod(
        namespace=found["metadata"]["namespace"],
        name=found["metadata"]["name"],
        annotations=found["metadata"].get("annotations", {}),
        node=spec.get("nodeName", ""),
        phase=status.get("phase", ""),
        ready=bool(containers) and all(each["ready"] for each in containers),
        restarts=sum(each["restartCount"] for each in containers),
        images=tuple(each["image"] for each in spec["containers"]),
        requests=requests(spec),
        waiting="; ".join(
            ": ".join(filter(None, (each.get("reason"), each.get("message"))))
            for each in waiting
            if each
        ),
    )


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
