"""The nine steps from a card on a node to a container that sees it, and who takes each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from lab.harness.timeline.moment import UNKNOWN, Moment
from lab.harness.timeline.phrase import NOTHING, Phrase

Actor = Literal["plugin", "kubelet", "API server", "scheduler", "runtime", "container"]
#: `done`; `failed`, it was tried in vain; `waiting`, it has not come yet; `never`, it will not come
#: any more; `unknown`, nothing is left that would tell.
Outcome = Literal["done", "failed", "waiting", "never", "unknown"]
#: Where it is known from, "" where from nowhere.
Source = Literal["", "journal", "plugin log", "node status", "event", "pod status", "pod log"]

SCAN: Final = 1
REGISTER: Final = 2
LIST: Final = 3
ALLOCATABLE: Final = 4
SCHEDULE: Final = 5
ASK: Final = 6
ANSWER: Final = 7
RUNTIME: Final = 8
CONTAINER: Final = 9


@dataclass(frozen=True)
class Kind:
    """What one of the nine steps is: who does it, to whom, and what."""

    actor: Actor
    to: Actor
    title: Phrase


#: The chain, as a training chapter on GPU nodes tells it: one step, one hand-over.
KINDS: Final[Sequence[Kind]] = (
    Kind("plugin", "plugin", Phrase("scans the node for cards", "扫描节点上的卡")),
    Kind("plugin", "kubelet", Phrase("registers the resource (Register)", "注册资源（Register）")),
    Kind(
        "plugin",
        "kubelet",
        Phrase("sends the list of devices (ListAndWatch)", "上报设备列表（ListAndWatch）"),
    ),
    Kind(
        "kubelet",
        "API server",
        Phrase("writes allocatable into the node's status", "把 allocatable 写入节点状态"),
    ),
    Kind("scheduler", "API server", Phrase("binds the pod to a node", "把 Pod 绑定到节点")),
    Kind("kubelet", "plugin", Phrase("asks for devices (Allocate)", "请求设备（Allocate）")),
    Kind(
        "plugin",
        "kubelet",
        Phrase("answers what a container gets", "回答容器应得到什么"),
    ),
    Kind(
        "kubelet",
        "runtime",
        Phrase("hands the container to the runtime", "把容器交给运行时"),
    ),
    Kind("container", "container", Phrase("sees its devices", "看到自己的设备")),
)


@dataclass(frozen=True)
class Step:
    """What became of one of the steps; `number` counts from 1."""

    number: int
    outcome: Outcome
    moment: Moment = UNKNOWN
    detail: Phrase = NOTHING
    source: Source = ""

    @property
    def kind(self) -> Kind:
        """What this step is."""
        return KINDS[self.number - 1]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the contract for tools."""
        return {
            "number": self.number,
            "actor": self.kind.actor,
            "to": self.kind.to,
            "title": self.kind.title.as_json(),
            "outcome": self.outcome,
            **self.moment.as_json(),
            "detail": self.detail.as_json(),
            "source": self.source,
        }
