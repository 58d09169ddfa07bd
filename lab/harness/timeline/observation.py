"""What there is to be known of a pod and of the node that serves it, gathered at one moment."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from pydantic import JsonValue

from lab.cluster.objects import Container, Event, Node, Pod
from lab.cluster.plugin.journal import Call, Journal
from lab.harness.timeline.moment import UNKNOWN, Moment

#: Why a container has ended that was made, and could not be started.
COULD_NOT_START: Final = "StartError"
#: What is asked, each of which may not be had.
Part = Literal["fleet", "pod", "others", "events", "node", "journal", "plugin log"]


@dataclass(frozen=True)
class LogLine:
    """A line that a plugin has logged; see `fake_plugin.events`."""

    time: datetime
    event: str
    facts: Mapping[str, JsonValue]


@dataclass(frozen=True)
class Observation:
    """A pod, and what concerns it.

    `resources` are those of the lab that the pod asks for, `node` its node or, without one, a node
    that has them, of which there are `peers`. `journal` and `plugin_log` are those of that node's
    plugin, `pod_logs` what its containers have printed last. `missing` has, for what could not be
    had, the reason in the words of whoever refused it. `others` are the pods of the node that ask
    for the same resources.
    """

    namespace: str
    name: str
    at: datetime
    pod: Pod | None = None
    resources: tuple[str, ...] = ()
    node: str = ""
    peers: int = 0
    node_status: Node | None = None
    others: tuple[Pod, ...] = ()
    events: tuple[Event, ...] = ()
    journal: Journal | None = None
    plugin_log: tuple[LogLine, ...] = ()
    pod_logs: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[Part, str] = field(default_factory=dict)

    def event(self, *reasons: str) -> Event | None:
        """Return the first event of the pod for one of these reasons."""
        return next((each for each in self.events if each.reason in reasons), None)

    def logged(self, event: str) -> LogLine | None:
        """Return the first line that the plugin has logged of an event."""
        return next((each for each in self.plugin_log if each.event == event), None)

    def calls(self, method: str) -> Iterator[Call]:
        """Yield the calls of the pod's resources, those that have ended and then the open ones."""
        if self.journal is not None:
            for call in (*self.journal.calls, *self.journal.open):
                if call.call == method and call.resource in self.resources:
                    yield call

    @property
    def scheduled(self) -> Moment:
        """When the pod got its node: at its creation, where it was made with one."""
        if self.pod is None or not self.pod.node:
            return UNKNOWN
        if (event := self.event("Scheduled")) and event.first:
            return Moment.told(event.first)
        condition = self.pod.conditions.get("PodScheduled")
        return Moment.told(condition.since if condition else self.pod.created)

    @property
    def plugin_since(self) -> datetime | None:
        """When the plugin that serves the node now was started, None where nothing tells."""
        if line := self.logged("scanned"):
            return line.time
        calls = self.journal.calls if self.journal else ()
        return calls[0].time if calls and calls[0].number == 1 else None

    @property
    def began_later(self) -> bool:
        """Whether the plugin was restarted after the pod had got its node: it forgot of the pod."""
        since, scheduled = self.plugin_since, self.scheduled.latest
        return since is not None and scheduled is not None and since > scheduled

    @property
    def containers(self) -> tuple[Container, ...]:
        """The pod's containers, init containers first, as far as its status has them."""
        return (*self.pod.init_containers, *self.pod.containers) if self.pod else ()

    @property
    def is_rejected(self) -> bool:
        """Whether the kubelet did not let the pod in: it has failed, and no container was made."""
        pod = self.pod
        return (
            pod is not None
            and pod.phase == "Failed"
            and bool(pod.reason)
            and not any(each.id for each in self.containers)
        )

    @property
    def rejected_at(self) -> Moment:
        """When the kubelet did not let the pod in, by the event of that."""
        event = self.event(self.pod.reason) if self.pod and self.is_rejected else None
        return Moment.told(event.first if event else None)

    @property
    def first_start(self) -> Moment:
        """When the first of the pod's containers was started; a status has only its last run."""
        if (event := self.event("Started")) and event.first:
            return Moment.told(event.first)
        return Moment.told(earliest_start(self.containers))

    @property
    def admitted_by(self) -> datetime | None:
        """Return the latest at which the kubelet can have allocated, None where it still may."""
        return self.first_start.latest or self.rejected_at.latest


def earliest_start(containers: Iterable[Container]) -> datetime | None:
    """Return when the first of containers was started in its last run, None where none was.

    One that could not be started has 1970 for its start.
    """
    started = (each.started for each in containers if each.reason != COULD_NOT_START)
    return min(filter(None, started), default=None)
