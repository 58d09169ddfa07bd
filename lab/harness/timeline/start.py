"""Steps 8 and 9: how a container was started, and what it sees of the node's devices."""

from collections.abc import Iterator, Sequence
from typing import Final

from lab.cluster.objects import Container
from lab.core.counted import counted
from lab.harness.timeline.admission import NO_NODE, unreached
from lab.harness.timeline.allocation import Allocation, Asked, allocations, asked_for, parts
from lab.harness.timeline.moment import UNKNOWN, Moment
from lab.harness.timeline.observation import Observation, earliest_start
from lab.harness.timeline.phrase import NOTHING, Phrase
from lab.harness.timeline.step import CONTAINER, RUNTIME, Source, Step

#: Reasons to wait that say nothing has gone wrong.
_ON_ITS_WAY: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
_NOT_LET_IN: Final = Phrase("the kubelet did not let the pod in", "kubelet 没有让 Pod 通过准入")


def start(seen: Observation) -> Iterator[Step]:
    """Yield what became of the containers that ask for devices."""
    found = allocations(seen)
    asked = asked_for(seen)
    holders = [each for each in seen.containers if each.name in {a.container for a in asked}]
    yield _hand_over(seen, found, holders)
    yield _see(seen, found, asked, holders)


def _hand_over(
    seen: Observation, found: Sequence[Allocation], holders: Sequence[Container]
) -> Step:
    """Tell when the runtime was given a container to make.

    Of a pod with one container its event tells; of others, that it was before its start.
    """
    started = earliest_start(holders)
    created = seen.event("Created") if len(seen.containers) == 1 else None
    if created and created.first:
        return Step(RUNTIME, "done", Moment.told(created.first), _sandbox(seen), "event")
    if started:
        answered = max((each.answered_at for each in found if each.answered_at), default=None)
        moment = Moment.between(answered, Moment.told(started).latest)
        return Step(RUNTIME, "done", moment, _sandbox(seen), "pod status")
    if any(each.id for each in holders):
        return Step(RUNTIME, "done", UNKNOWN, _sandbox(seen), "pod status")
    return _not_started(seen, holders, RUNTIME)


def _sandbox(seen: Observation) -> Phrase:
    condition = seen.pod.conditions.get("PodReadyToStartContainers") if seen.pod else None
    if condition is None or condition.status != "True" or condition.since is None:
        return NOTHING
    at = Moment.told(condition.since).text(seen.pod.created if seen.pod else None)
    return Phrase(f"the pod's sandbox was ready at {at}", f"Pod 的 sandbox 在 {at} 就绪")


def _not_started(seen: Observation, holders: Sequence[Container], number: int) -> Step:
    if seen.pod is None:
        return Step(number, "unknown", detail=Phrase.quoted(seen.missing.get("pod", "")))
    if seen.is_rejected:
        return Step(number, "never", UNKNOWN, _NOT_LET_IN)
    if not seen.pod.node:
        return Step(number, unreached(seen), UNKNOWN, NO_NODE)
    if not holders:
        detail = Phrase("the kubelet has not let the pod in yet", "kubelet 尚未让 Pod 通过准入")
        return Step(number, unreached(seen), UNKNOWN, detail)
    words = _words(holders)
    if any(each.reason not in _ON_ITS_WAY for each in holders):
        return Step(number, "failed", UNKNOWN, words, "pod status")
    return Step(number, unreached(seen), UNKNOWN, words, "pod status" if words.en else "")


def _words(holders: Sequence[Container]) -> Phrase:
    """Return what the kubelet says of containers that do not run."""
    said = (": ".join(filter(None, (each.reason, each.message))) for each in holders)
    return Phrase.quoted("; ".join(filter(None, said)))


def _see(
    seen: Observation,
    found: Sequence[Allocation],
    asked: Sequence[Asked],
    holders: Sequence[Container],
) -> Step:
    moment = _first_run(seen, holders)
    if moment.at is None and not any(each.restarts for each in holders):
        return _not_started(seen, holders, CONTAINER)
    sights = [_sight(seen, each, found) for each in asked]
    detail = Phrase.joined(sight for sight, _ in sights)
    sources: list[Source] = [source for _, source in sights] or [""]
    return Step(CONTAINER, "done", moment, detail, min(sources, key=_SOURCES.index))


#: From the one that shows the least to the one that shows the most.
_SOURCES: Final[Sequence[Source]] = ("", "journal", "pod status", "pod log")


def _first_run(seen: Observation, holders: Sequence[Container]) -> Moment:
    """Return when the first of the containers was started; one that was restarted, at first."""
    event = seen.event("Started") if len(seen.containers) == 1 else None
    if event and event.first:
        return Moment.told(event.first)
    started = Moment.told(earliest_start(holders))
    if any(each.restarts for each in holders):
        return Moment.between(seen.pod.created if seen.pod else None, started.latest)
    return started


def _sight(seen: Observation, asked: Asked, found: Sequence[Allocation]) -> tuple[Phrase, Source]:
    """Return what a container sees of a resource, and where that is known from."""
    own = next((each for each in found if each.asked == asked), None)
    ids = asked.ids or (own.devices.shown if own else ())
    node = seen.node_status
    total = node.capacity.get(asked.resource) if node else None
    en = f"{asked.count} of {counted(total, 'device')}" if total else counted(asked.count, "device")
    zh = f"{asked.count} 个设备" + (f"（节点共 {total} 个）" if total else "")
    if not ids:
        unsure = Phrase(
            f"{asked.container}: {en}, nothing tells which",
            f"{asked.container}：{zh}，无从得知是哪些",
        )
        return unsure, ""
    alone = sum(each.container == asked.container for each in asked_for(seen)) == 1
    which = _variable(own, ids, alone=alone) or ", ".join(ids)
    printed = all(each in seen.pod_logs.get(asked.container, "") for each in ids)
    source: Source = "pod log" if printed else "pod status" if asked.ids else "journal"
    sight = Phrase(f"{asked.container}: {en}: {which}", f"{asked.container}：{zh}：{which}")
    return sight, source


def _variable(own: Allocation | None, ids: Sequence[str], *, alone: bool) -> str:
    """Return the variable by which the devices are told to the container, "" where none does.

    The vendor's, if it has one. `alone` says that no other resource of the container may have set
    the shorter one of the lab's: of two values the kubelet takes either.
    """
    found: dict[str, str] = {}
    for part in parts(own.call.answer, "container_responses") if own else ():
        variables = part.get("envs")
        for name, value in variables.items() if isinstance(variables, dict) else ():
            if all(each in str(value) for each in ids):
                found[name] = str(value)
    names = sorted(found, key=len, reverse=not alone)
    name = min(names, key=lambda each: each.startswith("GPULAB_"), default="")
    return f"{name}={found[name]}" if name else ""
