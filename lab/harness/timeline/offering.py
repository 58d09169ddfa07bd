"""Steps 1 to 4: how a node came to have devices that the scheduler knows of."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from pydantic import JsonValue

from lab.cluster.plugin.journal import Call
from lab.core.counted import counted
from lab.harness.timeline.moment import UNKNOWN, Moment
from lab.harness.timeline.observation import Observation
from lab.harness.timeline.phrase import NOTHING, Phrase
from lab.harness.timeline.step import ALLOCATABLE, LIST, REGISTER, SCAN, Source, Step

_SECOND = timedelta(seconds=1)


def offering(seen: Observation) -> Iterator[Step]:
    """Yield the steps of the node that serves the pod, or could."""
    lost = _lost(seen)
    if lost.en:
        for number in (SCAN, REGISTER, LIST):
            yield _before_the_pod(seen, number, lost)
    else:
        yield _scan(seen)
        yield _register(seen)
        yield _list(seen)
    yield _allocatable(seen)


def _before_the_pod(seen: Observation, number: int, why: Phrase) -> Step:
    """Return a step that nothing tells of: if the scheduler went by what it led to, it was."""
    if _was_placed(seen):
        source: Source = "event" if seen.event("Scheduled") else "pod status"
        return Step(number, "done", Moment.between(None, seen.scheduled.latest), why, source)
    return Step(number, "unknown", detail=why)


def _lost(seen: Observation) -> Phrase:
    """Return why nothing is left of what came before the pod, nothing where it is there."""
    if seen.began_later and seen.plugin_since:
        at = Moment.exact(seen.plugin_since).text()
        return Phrase(
            f"the plugin has been restarted since: its log and its journal begin at {at}",
            f"plugin 之后重启过：它的日志和调用记录从 {at} 开始",
        )
    return NOTHING


def _scan(seen: Observation) -> Step:
    line = seen.logged("scanned")
    if line:
        cards, resources = line.facts.get("cards"), _texts(line.facts.get("resources"))
        detail = Phrase(
            f"{cards} cards, offered as {resources}", f"{cards} 张卡，以 {resources} 的名义提供"
        )
        return Step(SCAN, "done", Moment.exact(line.time), _where(seen, detail), "plugin log")
    return _before_the_pod(seen, SCAN, _unheard(seen, "plugin log"))


def _register(seen: Observation) -> Step:
    calls = _before_scheduled(seen, seen.calls("Register"))
    accepted = [call for call in calls if call.code == "OK"]
    last = {call.resource: call.time for call in accepted}
    others = [call for call in calls if call.resource not in last]
    if others:
        return _not_registered(seen, others[-1])
    if not accepted:
        return _before_the_pod(seen, REGISTER, _unheard(seen, "journal"))
    detail = Phrase.joined((Phrase.quoted(", ".join(last)), _again(len(accepted) - len(last))))
    return Step(REGISTER, "done", Moment.exact(max(last.values())), detail, "journal")


def _not_registered(seen: Observation, call: Call) -> Step:
    rule = f" ({call.fault})" if call.fault else ""
    name = f"{call.resource}: " if len(seen.resources) > 1 else ""
    if call.is_open:
        detail = Phrase(f"{name}not accepted yet{rule}", f"{name}尚未被接受{rule}")
        return Step(REGISTER, "waiting", Moment.exact(call.time), detail, "journal")
    refused = Phrase(f"{name}not accepted: {call.code}{rule}", f"{name}未被接受：{call.code}{rule}")
    detail = Phrase.joined((refused, _refusal(seen)))
    return Step(REGISTER, "failed", Moment.exact(call.time), detail, "journal")


def _again(times: int) -> Phrase:
    """Return how often it had registered before that; a new kubelet has to be told again."""
    if not times:
        return NOTHING
    return Phrase(f"it had registered {counted(times, 'time')} before", f"此前已注册过 {times} 次")


def _refusal(seen: Observation) -> Phrase:
    line = seen.logged("refused")
    return Phrase.quoted(str(line.facts.get("reason", ""))) if line else NOTHING


def _list(seen: Observation) -> Step:
    sent = {name: lists for name in seen.resources if (lists := _lists(seen, name))}
    if sent and sent.keys() == {*seen.resources}:
        moment = Moment.exact(max(lists[0].time for lists in sent.values()))
        several = len(sent) > 1
        detail = Phrase.joined(
            _sent(lists, f"{name}: " if several else "") for name, lists in sent.items()
        )
        return Step(LIST, "done", moment, detail, "journal")
    streams = [
        each for each in seen.calls("ListAndWatch") if each.is_open and each.resource not in sent
    ]
    if streams:
        rule = f" ({streams[-1].fault})" if streams[-1].fault else ""
        detail = Phrase(f"asked for, and not sent yet{rule}", f"kubelet 已请求，尚未发送{rule}")
        return Step(LIST, "waiting", Moment.exact(streams[-1].time), detail, "journal")
    return _before_the_pod(seen, LIST, _unheard(seen, "journal"))


def _lists(seen: Observation, resource: str) -> Sequence[Call]:
    """Return the lists of a resource since it was registered, up to the pod."""
    calls = _before_scheduled(seen, seen.calls("Register"))
    own = [call.time for call in calls if call.code == "OK" and call.resource == resource]
    return [
        call
        for call in _before_scheduled(seen, seen.calls("ListAndWatch"))
        if call.resource == resource and call.sent and not call.code and not call.is_open
        if not own or call.time >= own[-1]
    ]


def _sent(lists: Sequence[Call], name: str) -> Phrase:
    """Return what the first list had, and the last one if that was another."""
    first, last = lists[0], lists[-1]
    detail = _listed(first)
    if last.answer != first.answer:
        at, told = Moment.exact(last.time).text(first.time), _listed(last)
        detail = Phrase(
            f"{detail.en}; the last one before the pod, at {at}: {told.en}",
            f"{detail.zh}；Pod 之前的最后一次在 {at}：{told.zh}",
        )
    return Phrase(f"{name}{detail.en}", f"{name}{detail.zh}")


def _allocatable(seen: Observation) -> Step:
    """Tell when the node showed the devices: the API keeps no times of that, only bounds.

    It was not before the list was sent. It was not after the scheduler placed the pod by it, nor
    after the kubelet's last report if that came after the list.
    """
    node = seen.node_status
    if node is None:
        return Step(ALLOCATABLE, "unknown", detail=_unheard(seen, "node"))
    shown = {name: node.allocatable.get(name, 0) for name in seen.resources}
    counts = _counts(shown)
    sent = None if _lost(seen).en else _list(seen).moment.earliest
    reported = node.heard if node.heard and (sent is None or node.heard > sent) else None
    ends = [seen.scheduled.latest, reported + _SECOND if reported else None]
    if _was_placed(seen):
        moment = Moment.between(sent, min(filter(None, ends), default=None))
        return Step(ALLOCATABLE, "done", moment, _then_and_now(seen, shown), "node status")
    if all(shown.values()):
        moment = Moment.between(sent, ends[1] or seen.at)
        return Step(ALLOCATABLE, "done", moment, _where(seen, counts), "node status")
    heard = Moment.told(node.heard).text()
    report = Phrase(f"the kubelet's last report is of {heard}", f"kubelet 最近一次上报在 {heard}")
    detail = _where(seen, Phrase.joined((counts, report)))
    return Step(ALLOCATABLE, "waiting", UNKNOWN, detail, "node status")


def _counts(shown: Mapping[str, int]) -> Phrase:
    return Phrase.quoted(", ".join(f"{name}: {count}" for name, count in shown.items()))


def _then_and_now(seen: Observation, shown: Mapping[str, int]) -> Phrase:
    """Return what the node showed before the pod, by the lists, and what it shows now if not that.

    Where no list is left, or those before the pod differ, it is known of now alone.
    """
    now = Phrase(f"now {_counts(shown).en}", f"现在为 {_counts(shown).zh}")
    told = {name: {_healthy(each) for each in _lists(seen, name)} for name in shown}
    if any(len(each) != 1 or None in each for each in told.values()):
        return now
    then = {name: count for name, each in told.items() for count in each if count is not None}
    return _counts(then) if then == shown else Phrase.joined((_counts(then), now))


def _was_placed(seen: Observation) -> bool:
    """Whether the scheduler has seen the devices: a pod made with a node may be there without."""
    if seen.event("Scheduled"):
        return True
    return seen.scheduled.at is not None and not seen.is_rejected


def _where(seen: Observation, detail: Phrase) -> Phrase:
    """Add which node is told of where the pod has none."""
    if seen.scheduled.at is not None:
        return detail
    if seen.peers == 1:
        return Phrase(f"{seen.node}: {detail.en}", f"{seen.node}：{detail.zh}")
    return Phrase(
        f"{seen.node}, one of {seen.peers} nodes that have it: {detail.en}",
        f"{seen.node}（共 {seen.peers} 个节点有此资源）：{detail.zh}",
    )


def _before_scheduled(seen: Observation, calls: Iterator[Call]) -> Sequence[Call]:
    until = seen.scheduled.latest
    return [call for call in calls if until is None or call.time <= until]


def _healthy(call: Call) -> int | None:
    match call.answer:
        case {"healthy": int(healthy)}:
            return healthy
        case _:
            return None


def _listed(call: Call) -> Phrase:
    match call.answer:
        case {"devices": int(count), "healthy": int(healthy)}:
            return Phrase(
                f"{healthy} of {count} devices healthy", f"{count} 个设备，健康 {healthy}"
            )
        case _:
            return NOTHING


def _unheard(seen: Observation, part: str) -> Phrase:
    """Return why nothing of this is known, of a source that was there or was not."""
    for each, why in seen.missing.items():
        if each == part:
            return Phrase.quoted(why)
    first = seen.journal.calls[0] if seen.journal and seen.journal.calls else None
    if part == "journal" and first and first.number and first.number > 1:
        return Phrase(
            f"the journal keeps the last calls alone, from number {first.number} on",
            f"调用记录只保留最近的调用，从第 {first.number} 条开始",
        )
    return Phrase(f"the {part} has nothing of it", f"{part} 中没有相关内容")


def _texts(value: JsonValue | None) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
