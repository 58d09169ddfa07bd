"""Which of a node's Allocate calls were for a pod: the calls name devices, and no pods.

A kubelet from 1.36 on tells in the pod's status which devices a container holds. Without that, the
call is the one of the right resource, size and end that is next to the pod's binding, or to the
event by which the kubelet did not let it in; where it may be another pod's, that is said.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import JsonValue

from lab.cluster.objects import Pod
from lab.cluster.plugin.journal import Call
from lab.harness.timeline.observation import Observation

#: The journal shows that many of a list, and how many more there are.
_MORE = re.compile(r"and (\d+) more")
#: Two machines' clocks may differ, and whole seconds are cut off.
_SLACK = timedelta(seconds=1)


@dataclass(frozen=True)
class Asked:
    """What one container asks for of one resource; `ids` are the devices that it is known to hold.

    The kubelet makes one call for each of these.
    """

    container: str
    resource: str
    count: int
    ids: tuple[str, ...] = ()

    def is_met_by(self, call: Call) -> bool:
        """Whether the call may be the one for this."""
        devices = Devices.of_request(call.request)
        if call.resource != self.resource or devices.count != self.count:
            return False
        return not self.ids or set(devices.shown) <= set(self.ids)


@dataclass(frozen=True)
class Devices:
    """Devices in a message of the journal: how many, and those that are shown."""

    count: int
    shown: tuple[str, ...]

    @classmethod
    def of_request(cls, request: JsonValue) -> "Devices":
        """Read the devices that Allocate is asked for."""
        ids = [each for part in parts(request, "container_requests") for each in _ids(part)]
        more = _MORE.fullmatch(ids[-1]) if ids else None
        if more:
            return cls(len(ids) - 1 + int(more[1]), tuple(ids[:-1]))
        return cls(len(ids), tuple(ids))


@dataclass(frozen=True)
class Allocation:
    """The call for a container; `is_sure` says that it can be no other pod's."""

    asked: Asked
    call: Call
    is_sure: bool

    @property
    def devices(self) -> Devices:
        """The devices that were asked for."""
        return Devices.of_request(self.call.request)

    @property
    def answered_at(self) -> datetime | None:
        """When it ended, None as long as it has not."""
        duration = self.call.duration
        return None if duration is None else self.call.time + timedelta(seconds=duration)


def asked_for(seen: Observation) -> tuple[Asked, ...]:
    """Return what the pod's containers ask for of the lab's resources, init containers first."""
    if seen.pod is None:
        return ()
    held = {each.name: each.devices for each in seen.pod.containers}
    return tuple(
        Asked(name, resource, count, tuple(held.get(name, {}).get(resource, ())))
        for name, limits in seen.pod.limits.items()
        for resource, count in limits.items()
        if resource in seen.resources and count
    )


def allocations(seen: Observation) -> tuple[Allocation, ...]:
    """Return the pod's calls, in the order in which they were made."""
    free = _candidates(seen)
    asked = asked_for(seen)
    found = []
    # Those whose devices are known first: theirs are not to be taken by others.
    for each in sorted(asked, key=lambda one: not one.ids):
        fitting = [call for call in free if each.is_met_by(call)]
        if fitting:
            free.remove(fitting[0])
            own = sum((one.resource, one.count) == (each.resource, each.count) for one in asked)
            alone = len(fitting) <= own and not _is_waited_for(seen, each)
            found.append(Allocation(each, fitting[0], is_sure=bool(each.ids) or alone))
    return tuple(sorted(found, key=lambda one: one.call.time))


def _candidates(seen: Observation) -> list[Call]:
    """Return the calls that may be the pod's by time and end, the likeliest first.

    The scheduler says that it has bound a pod when the kubelet may have seen that already.
    """
    if seen.pod is None or seen.scheduled.earliest is None:
        return []
    scheduled, until = seen.scheduled.earliest, seen.admitted_by
    begins = max(filter(None, (scheduled - _SLACK, seen.pod.created)))
    near = seen.rejected_at.at or scheduled
    calls = [
        call
        for call in seen.calls("Allocate")
        if begins <= call.time and (until is None or call.time <= until)
        if _ends_as_the_pod_did(seen.pod, call, rejected=seen.is_rejected)
        if not _is_held(seen, call)
    ]
    return sorted(calls, key=lambda call: abs(call.time - near))


def _ends_as_the_pod_did(pod: Pod, call: Call, *, rejected: bool) -> bool:
    """Whether what became of the call goes with what became of the pod.

    The words are the kubelet's: Kubernetes, pkg/kubelet/cm/devicemanager/manager.go.
    """
    if not rejected:
        return call.code in {"", "OK"}
    if "Allocate failed due to rpc error" in pod.message:
        return call.code not in {"", "OK"}
    return "no containers return in allocation response" in pod.message and call.code == "OK"


def _is_held(seen: Observation, call: Call) -> bool:
    """Whether its devices are those of another pod, as that one's status has it."""
    devices = set(Devices.of_request(call.request).shown)
    return any(
        devices <= {*each.devices.get(call.resource, ())}
        for pod in seen.others
        if pod.phase == "Running"
        for each in pod.containers
    )


def _is_waited_for(seen: Observation, asked: Asked) -> bool:
    """Whether another pod waits to be let in that asks for the same, so that it may be its call."""
    return any(
        limits.get(asked.resource) == asked.count
        for pod in seen.others
        if pod.phase == "Pending" and not any(each.id for each in pod.containers)
        for limits in pod.limits.values()
    )


def parts(message: JsonValue, key: str) -> Sequence[dict[str, JsonValue]]:
    """Return the objects of a list in a message; none where the journal had no room for it."""
    found = message.get(key) if isinstance(message, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _ids(part: dict[str, JsonValue]) -> Iterator[str]:
    found = part.get("devices_ids")
    yield from (str(each) for each in found) if isinstance(found, list) else ()
