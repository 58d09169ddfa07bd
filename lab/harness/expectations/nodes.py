"""What is expected of a node."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lab.cluster.objects import Node
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.metrics import Sample
from lab.core.counted import counted
from lab.core.errors import UsageError
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.metrics import Comparison, Series
from lab.harness.sight import MET, Hopeless, NotYet, Sight, once_answered

_AMOUNTS: Final[Mapping[str, Callable[[Node], Mapping[str, int]]]] = {
    "allocatable": lambda node: node.allocatable,
    "capacity": lambda node: node.capacity,
}
#: The calls of a name and a resource that its plugin has seen, oldest first.
Recorded = Callable[[str, str], Sequence[Call]]


@dataclass(frozen=True)
class NodeExpectation:
    """What is expected of one node, each with a deadline in seconds; `resource` is its only one.

    Every method waits until it is so and returns this object. Raises `ExpectationFailed`.
    """

    expecting: Expecting
    name: str
    resource: Callable[[], str]
    recorded: Recorded
    asked_by_pods: Callable[[str], int]
    scraped: Callable[[], Sequence[Sample]]

    def allocatable(
        self, count: int, resource: str = "", *, within: float = 60
    ) -> "NodeExpectation":
        """So many devices can be given out, by what the scheduler sees; used ones are counted."""
        name = resource or self.resource()
        return self._until(
            f"{count} {name} allocatable", _shows("allocatable", name, count), within
        )

    def capacity(self, count: int, resource: str = "", *, within: float = 60) -> "NodeExpectation":
        """It has so many devices, be they healthy or not."""
        name = resource or self.resource()
        return self._until(f"a capacity of {count} {name}", _shows("capacity", name, count), within)

    def requested(self, count: int, resource: str = "", *, within: float = 60) -> "NodeExpectation":
        """Its pods ask for so many devices together; the rest of the allocatable ones is free.

        No field of a node tells this: the scheduler adds it up, and so does `kubectl describe`.
        """
        name = resource or self.resource()

        def look(_: Node) -> Sight:
            found = self.asked_by_pods(name)
            return MET if found == count else NotYet(f"pods ask for {found} {name}")

        return self._until(f"{count} {name} requested", look, within)

    def has_no(self, resource: str, *, lasting: float = 2) -> "NodeExpectation":
        """It does not know the resource: no key of it, which is not the same as 0 devices."""

        def look(node: Node) -> Sight:
            if resource in node.capacity or resource in node.allocatable:
                return Hopeless(_told(node, resource))
            return MET

        self.expecting.throughout(f"has no {resource}", self._looking(look), lasting)
        return self

    def offers_no(self, resource: str, *, within: float = 60) -> "NodeExpectation":
        """Nothing of the resource can be given out: 0 devices, or no key of it.

        Which of both depends on whether the node has ever had it, see `has_no`.
        """

        def look(node: Node) -> Sight:
            return NotYet(_told(node, resource)) if node.allocatable.get(resource) else MET

        return self._until(f"no {resource} allocatable", look, within)

    def asked(
        self, call: str, times: int, resource: str = "", *, within: float = 10
    ) -> "NodeExpectation":
        """Its kubelet has made so many of these calls since the plugin's start, as `Allocate`."""

        @once_answered
        def look(_: Node) -> Sight:
            found = len(self.recorded(call, resource))
            return MET if found == times else NotYet(f"{counted(found, 'call')} of {call}")

        what = f"was asked {call} {times} times"
        awaited = f"{what} for {resource}" if resource else what
        return self._until(awaited, look, within)

    def asked_before(
        self, earlier: str, later: str, resource: str = "", *, within: float = 10
    ) -> "NodeExpectation":
        """Of two calls, as `Allocate`, the last one of `earlier` had ended when `later` began."""

        @once_answered
        def look(_: Node) -> Sight:
            pair = [self.recorded(each, resource)[-1:] for each in (earlier, later)]
            if not all(pair):
                missing = earlier if not pair[0] else later
                return NotYet(f"{missing} was not called")
            (first,), (second,) = pair
            if first.ended is not None and first.ended <= second.started:
                return MET
            return NotYet(f"{later} began at {second.time}, {earlier} at {first.time}")

        return self._until(f"was asked {earlier} before {later}", look, within)

    def answered(
        self, call: str, words: str, resource: str = "", *, within: float = 10
    ) -> "NodeExpectation":
        """The last answer of its plugin to such a call has these words, in any of its fields."""

        @once_answered
        def look(_: Node) -> Sight:
            calls = self.recorded(call, resource)
            if not calls:
                return NotYet(f"{call}: was not called")
            said = json.dumps(calls[-1].answer, ensure_ascii=False)
            return MET if words in said else NotYet(f"{call}: {said}")

        return self._until(f"answered {call} with {words!r}", look, within)

    def keeps(
        self,
        count: int,
        resource: str = "",
        *,
        lasting: float,
        of: Literal["allocatable", "capacity"] = "allocatable",
    ) -> "NodeExpectation":
        """It shows so many devices for that long, as allocatable or as its capacity.

        Raises `UsageError` for another `of`.
        """
        if of not in _AMOUNTS:
            raise UsageError(
                "of what a node keeps so many is its allocatable or its capacity",
                seen=f"of={of!r}",
                remedy="give one of these: allocatable, capacity",
            )
        name = resource or self.resource()
        look = self._looking(_shows(of, name, count))
        self.expecting.throughout(f"keeps {count} {name} {of}", look, lasting)
        return self

    def label(self, key: str, value: str | None = None, *, within: float = 30) -> "NodeExpectation":
        """It has the label, with this value if one is given."""

        def look(node: Node) -> Sight:
            found = node.labels.get(key)
            if found is None:
                return NotYet(f"no such label among {len(node.labels)}")
            return MET if value in {None, found} else NotYet(f"{key}={found}")

        wanted = key if value is None else f"{key}={value}"
        return self._until(f"has the label {wanted}", look, within)

    def metric(
        self,
        name: str,
        value: float | str | None = None,
        /,
        *,
        within: float = 30,
        **labels: str | int,
    ) -> "NodeExpectation":
        """A metric of the node has this value, as `metric("DCGM_FI_DEV_XID_ERRORS", 79, gpu="0")`.

        The name is as it stands in the node's `/metrics`; labels narrow it, and of the series that
        they leave one will do. The value is a number, a comparison such as `"> 0"` or `"<= 0.5"`,
        or None for any. Raises `UsageError` for another.
        """
        series = Series(name, labels)
        comparison = None if value is None else Comparison.of(value)
        wanted = f"{series}{comparison}" if comparison else f"has the metric {series}"

        @once_answered
        def look(_: Node) -> Sight:
            return series.compared(self.scraped(), comparison)

        return self._until(wanted, look, within)

    def no_metric(
        self, name: str, /, *, within: float = 30, **labels: str | int
    ) -> "NodeExpectation":
        """There is no series of the metric with these labels, as of a GPU that cannot be read."""
        series = Series(name, labels)

        @once_answered
        def look(_: Node) -> Sight:
            found = series.of(self.scraped())
            return NotYet(series.told(found)) if found else MET

        return self._until(f"no metric {series}", look, within)

    def ready(self, *, within: float = 60) -> "NodeExpectation":
        """Its kubelet reports, and calls it Ready."""
        return self._until(
            "is Ready", lambda node: MET if node.ready else NotYet("NotReady"), within
        )

    def not_ready(self, *, within: float = 90) -> "NodeExpectation":
        """Its kubelet is silent, or calls it not Ready."""
        look: Callable[[Node], Sight] = lambda node: NotYet("Ready") if node.ready else MET  # noqa: E731
        return self._until("is not Ready", look, within)

    def never(
        self, what: str, is_so: Callable[[Node], bool], *, lasting: float
    ) -> "NodeExpectation":
        """It is not so for that long, not even for a moment between two looks.

        `what` says in words what must not be, for the report.
        """
        started = self.expecting.view.changes.last

        def look(node: Node) -> Sight:
            changes = self.expecting.view.nodes.since(started)
            between = [each.object for each in changes if each.object.name == self.name]
            for each in (*between, node):
                if is_so(each):
                    return Hopeless(_told(each))
            return MET

        self.expecting.throughout(f"never {what}", self._looking(look), lasting)
        return self

    def _until(
        self, awaited: str, look: Callable[[Node], Sight], within: float
    ) -> "NodeExpectation":
        self.expecting.until(awaited, self._looking(look), within)
        return self

    def _looking(self, look: Callable[[Node], Sight]) -> Callable[[], Sight]:
        def looking() -> Sight:
            found = self.expecting.view.nodes.get(self.name)
            return look(found) if found else NotYet("there is no such node")

        return looking


def _shows(of: str, resource: str, count: int) -> Callable[[Node], Sight]:
    def look(node: Node) -> Sight:
        found = _AMOUNTS[of](node).get(resource)
        return MET if found == count else NotYet(_told(node, resource))

    return look


def _told(node: Node, resource: str = "") -> str:
    """Return what a node shows, as `nvidia.com/gpu: 7 of 8 allocatable`.

    Without names of 0 devices, which a kubelet keeps of earlier fleets; but `resource` is told.
    """
    shown = [
        f"{name}: {node.allocatable.get(name, 0)} of {capacity} allocatable"
        for name, capacity in sorted(node.capacity.items())
        if capacity or name == resource
    ]
    state = "" if node.ready else "; it is not Ready"
    none = "no resource has devices" if node.capacity else "it has no extended resource"
    return (", ".join(shown) or none) + state
