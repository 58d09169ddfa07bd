"""Steps 5 to 7: how a pod came to a node, and to devices of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from lab.core.counted import counted
from lab.harness.timeline.allocation import Allocation, allocations, asked_for, parts
from lab.harness.timeline.moment import UNKNOWN, Moment
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.phrase import NOTHING, Phrase
from lab.harness.timeline.step import ANSWER, ASK, SCHEDULE, Outcome, Source, Step

NO_NODE = Phrase("the pod has no node yet", "Pod 还没有节点")
#: What a container can be given, by the fields of the answer.
_GIVEN: Final[Mapping[str, Phrase]] = {
    "envs": Phrase("variable", "个变量"),
    "devices": Phrase("device file", "个设备文件"),
    "mounts": Phrase("mount", "个挂载"),
    "cdi_devices": Phrase("CDI device", "个 CDI 设备"),
}


def admission(seen: Observation) -> Iterator[Step]:
    """Yield what the scheduler did for the pod, and what kubelet and plugin said of it."""
    found = allocations(seen)
    yield _schedule(seen, found)
    yield _ask(seen, found)
    yield _answer(seen, found)


def _schedule(seen: Observation, found: Sequence[Allocation]) -> Step:
    if seen.pod is None:
        return Step(SCHEDULE, "unknown", detail=Phrase.quoted(seen.missing.get("pod", "")))
    if seen.pod.node:
        event = seen.event("Scheduled")
        source: Source = "event" if event and event.first else "pod status"
        detail = Phrase(f"to {seen.pod.node}", f"到 {seen.pod.node}")
        if not event and "PodScheduled" not in seen.pod.conditions:
            made = Phrase("the pod was made with its node", "Pod 创建时已指定节点")
            detail = Phrase.joined((detail, made))
        return Step(SCHEDULE, "done", _bound_at(seen, found), detail, source)
    event = seen.event("FailedScheduling")
    if not event:
        why = Phrase.quoted(seen.pod.unscheduled or seen.missing.get("events", ""))
        detail = why if why.en else Phrase("the scheduler has not spoken yet", "scheduler 尚未表态")
        told: Source = "pod status" if seen.pod.unscheduled else ""
        return Step(SCHEDULE, unreached(seen), UNKNOWN, detail, told)
    words = Phrase.quoted(seen.pod.unscheduled or event.message)
    tries = Phrase(f"tried {event.count} times", f"已尝试 {event.count} 次")
    detail = Phrase.joined((words, tries if event.count > 1 else NOTHING))
    return Step(SCHEDULE, unreached(seen), Moment.told(event.first), detail, "event")


def _bound_at(seen: Observation, found: Sequence[Allocation]) -> Moment:
    """Return when the pod was bound: the scheduler says so when that is done.

    The kubelet may have seen it before and asked already.
    """
    asked = min((each.call.time for each in found), default=None)
    told = seen.scheduled
    if asked and told.earliest and asked < told.earliest:
        return Moment.between(seen.pod.created if seen.pod else None, asked)
    return told


def unreached(seen: Observation) -> Outcome:
    """Return how a step is that was not reached: a pod that has ended or is going reaches none."""
    pod = seen.pod
    if pod is None:
        return "unknown"
    return "never" if pod.terminating or pod.phase in {"Failed", "Succeeded"} else "waiting"


def _ask(seen: Observation, found: Sequence[Allocation]) -> Step:
    if found:
        moment = Moment.exact(found[0].call.time)
        return Step(ASK, "done", moment, Phrase.joined(map(_asked, found)), "journal")
    return _without_a_call(seen, ASK)


def _answer(seen: Observation, found: Sequence[Allocation]) -> Step:
    if not found:
        return _without_a_call(seen, ANSWER)
    failed = [each for each in found if each.call.code not in {"", "OK"}]
    if failed:
        call = failed[0].call
        rule = f" ({call.fault})" if call.fault else ""
        refusal = Phrase(f"refused: {call.code}{rule}", f"被拒绝：{call.code}{rule}")
        detail = Phrase.joined((refusal, _kubelets_words(seen)))
        return Step(ANSWER, "failed", _end_of(failed), detail, "journal")
    still = [each.call for each in found if each.call.is_open]
    if still:
        rule = f" ({still[0].fault})" if still[0].fault else ""
        detail = Phrase(f"no answer yet{rule}", f"尚无回答{rule}")
        return Step(ANSWER, "waiting", UNKNOWN, detail, "journal")
    if seen.is_rejected:
        # It said yes, and the kubelet could not use what it said.
        detail = Phrase.joined((_given(found), _kubelets_words(seen)))
        return Step(ANSWER, "failed", _end_of(found), detail, "journal")
    return Step(ANSWER, "done", _end_of(found), _given(found), "journal")


def _end_of(found: Sequence[Allocation]) -> Moment:
    ends = [each.answered_at for each in found if each.answered_at]
    return Moment.exact(max(ends)) if ends else UNKNOWN


def _without_a_call(seen: Observation, number: int) -> Step:
    """Tell of a step that the journal has no call for: it was not reached, or it is forgotten."""
    if seen.pod is None:
        return Step(number, "unknown", detail=Phrase.quoted(seen.missing.get("pod", "")))
    if not seen.pod.node:
        return Step(number, unreached(seen), UNKNOWN, NO_NODE)
    if seen.is_rejected:
        return _rejected(seen, number)
    if seen.first_start.at is None and seen.journal is not None:
        detail = Phrase("the kubelet has not asked yet", "kubelet 尚未请求")
        return Step(number, unreached(seen), UNKNOWN, detail)
    # The scheduler's word of the binding may come after the kubelet's call.
    moment = Moment.between(seen.pod.created, seen.first_start.latest)
    if any(each.ids for each in asked_for(seen)):
        # Its container holds devices: it was asked for them, and answered.
        return Step(number, "done", moment, _forgotten(seen), "pod status")
    return Step(number, "unknown", moment, _forgotten(seen))


def _rejected(seen: Observation, number: int) -> Step:
    """Tell of a pod that the kubelet did not let in, and no call of the journal is known for."""
    if seen.journal is None or seen.began_later:
        moment = seen.rejected_at if number == ASK else UNKNOWN
        detail = Phrase.joined((_kubelets_words(seen), _forgotten(seen)))
        return Step(number, "unknown", moment, detail, "pod status")
    if number == ASK:
        return Step(ASK, "failed", seen.rejected_at, _kubelets_words(seen), "pod status")
    return Step(number, "never", UNKNOWN, Phrase("the plugin was not asked", "plugin 没有被询问"))


def _forgotten(seen: Observation) -> Phrase:
    if why := seen.missing.get("journal"):
        return Phrase.quoted(why)
    if seen.began_later and seen.plugin_since:
        at = Moment.exact(seen.plugin_since).text()
        return Phrase(
            f"the plugin has been restarted since: its journal begins at {at}",
            f"plugin 之后重启过：它的调用记录从 {at} 开始",
        )
    return Phrase("the journal has no call that fits", "调用记录中没有相符的调用")


def _kubelets_words(seen: Observation) -> Phrase:
    pod = seen.pod
    return Phrase.quoted(f"{pod.reason}: {pod.message}") if pod and pod.message else NOTHING


def _asked(found: Allocation) -> Phrase:
    said = f"{found.asked.container}: {', '.join(_shown(found))}"
    if found.is_sure:
        return Phrase.quoted(said)
    return Phrase(
        f"{said} (most likely: another pod's call looks the same)",
        f"{said}（最可能的一个：另有 Pod 的调用与它相同）",
    )


def _shown(found: Allocation) -> list[str]:
    devices = found.devices
    more = devices.count - len(devices.shown)
    return [*devices.shown, f"+{more}"] if more else [*devices.shown]


def _given(found: Sequence[Allocation]) -> Phrase:
    return Phrase.joined(_told(each) for each in found)


def _told(found: Allocation) -> Phrase:
    """Return how many variables, files and mounts a container gets, and names of CDI."""
    counts = dict.fromkeys(_GIVEN, 0)
    for part in parts(found.call.answer, "container_responses"):
        for key in counts:
            value = part.get(key)
            counts[key] += len(value) if isinstance(value, list | dict) else 0
    given = [(_GIVEN[key], count) for key, count in counts.items() if count]
    what = Phrase(
        ", ".join(counted(number, noun.en) for noun, number in given) or "nothing",
        "、".join(f"{number} {noun.zh}" for noun, number in given) or "什么也没有",
    )
    if not isinstance(found.call.answer, dict | None):
        what = Phrase("more than the journal has room for", "内容过长，调用记录没有保留")
    return Phrase(f"{found.asked.container}: {what.en}", f"{found.asked.container}：{what.zh}")
