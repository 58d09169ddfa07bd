"""The words of a drawing: who acts, how a step has ended, and where that is known from."""

from collections.abc import Mapping
from typing import Final

from lab.harness.timeline.phrase import Phrase
from lab.harness.timeline.step import Actor, Outcome, Source
from lab.harness.timeline.timeline import Timeline

ACTORS: Final[Mapping[Actor, Phrase]] = {
    "plugin": Phrase("plugin", "plugin"),
    "kubelet": Phrase("kubelet", "kubelet"),
    "API server": Phrase("API server", "API server"),
    "scheduler": Phrase("scheduler", "scheduler"),
    "runtime": Phrase("runtime", "运行时"),
    "container": Phrase("container", "容器"),
}
OUTCOMES: Final[Mapping[Outcome, Phrase]] = {
    "done": Phrase("done", "已完成"),
    "failed": Phrase("failed", "失败"),
    "waiting": Phrase("not yet", "尚未发生"),
    "never": Phrase("not reached", "不会发生"),
    "unknown": Phrase("not known", "无从得知"),
}
MARKS: Final[Mapping[Outcome, str]] = {
    "done": "✓",
    "failed": "✗",
    "waiting": "…",
    "never": "-",
    "unknown": "?",
}
SOURCES: Final[Mapping[Source, Phrase]] = {
    "": Phrase("", ""),
    "journal": Phrase("plugin's journal", "plugin 调用记录"),
    "plugin log": Phrase("plugin's log", "plugin 日志"),
    "node status": Phrase("node's status", "节点状态"),
    "event": Phrase("event", "事件"),
    "pod status": Phrase("pod's status", "Pod 状态"),
    "pod log": Phrase("pod's log", "Pod 日志"),
}
_NO_NODE: Final = Phrase("no node", "没有节点")
PRECISION: Final = Phrase(
    "Times are UTC. With milliseconds: as written down. Without: in that second. "
    "a … b: between the two. ≤ b: not later.",
    "时间为 UTC。带毫秒：如实记录。不带毫秒：精确到秒。a … b：介于两者之间。≤ b：不晚于。",
)


def headline(timeline: Timeline) -> Phrase:
    """Return which pod it is, where, and what it asks for."""
    name = f"{timeline.namespace}/{timeline.pod}"
    asks = ", ".join(f"{resource}: {count}" for resource, count in timeline.asks)
    has_none = timeline.phase and not timeline.is_placed
    node = _NO_NODE if has_none else Phrase.quoted(timeline.node)
    facts = Phrase.joined((Phrase.quoted(timeline.phase), node, Phrase.quoted(asks)))
    return Phrase(f"pod {name} ({facts.en})", f"Pod {name}（{facts.zh}）")
