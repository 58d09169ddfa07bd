"""What a lab's cluster holds now, and waits for it to be otherwise."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from lab.cluster import reading
from lab.cluster.informer import Changes, Informer
from lab.cluster.objects import Event, Node, Pod
from lab.core.clock import Clock
from lab.core.errors import Interrupted, LabError, TimedOut
from lab.harness.sight import Hopeless, Met, NotYet, Sight
from lab.harness.waiting import Waiting
from lab.install.rollout import NAMESPACE, SELECTOR

if TYPE_CHECKING:
    from lab.cluster.connection import ApiFailed, Connection

#: What no watch tells of, such as a log or a metric, is looked at again after this long.
_LOOK_SECONDS: Final = 0.5
#: An API server may be away for so long, as one that restarts is, and a wait goes on after it.
_BLIND_SECONDS: Final = 15.0


@dataclass(frozen=True)
class Outcome:
    """How a wait ended: the last sight, and how many seconds it took."""

    sight: Sight
    waited: float

    @property
    def is_met(self) -> bool:
        """Whether what was awaited is so."""
        return isinstance(self.sight, Met)

    @property
    def seen(self) -> str:
        """Return what was there instead, "" where it was met."""
        return _seen(self.sight)


@dataclass(frozen=True)
class View:
    """The nodes, the plugins' pods, and the pods and events of one namespace, kept by watches."""

    clock: Clock
    changes: Changes
    nodes: Informer[Node]
    plugins: Informer[Pod]
    pods: Informer[Pod]
    events: Informer[Event]
    #: Whose waits are over for good.
    ended: set[threading.Thread] = field(default_factory=set)
    waiting: Waiting = field(default_factory=Waiting)

    def until(self, look: Callable[[], Sight], within: float) -> Outcome:
        """Look until what is awaited is so, or cannot become so, or the seconds are over.

        It looks again at each change in the cluster. Raises `ApiFailed` where the cluster cannot be
        watched: nothing that was seen before says how it is now.
        """
        return self._look(look, within, lambda sight: not isinstance(sight, NotYet))

    def throughout(self, look: Callable[[], Sight], lasting: float) -> Outcome:
        """Look for that long whether it stays so, and return at once where it does not.

        Raises as `until` does.
        """
        return self._look(look, lasting, lambda sight: not isinstance(sight, Met))

    def require(  # noqa: PLR0913 - the last ones are the error's own
        self,
        look: Callable[[], Sight],
        within: float,
        otherwise: str,
        *,
        where: str,
        remedy: str,
        commands: tuple[str, ...] = (),
        error: type[LabError] = TimedOut,
    ) -> None:
        """Wait until it is so; raises the error, `otherwise` with the seconds that it was given."""
        outcome = self.until(look, within)
        match outcome.sight:
            case NotYet(seen):
                what = f"{otherwise} within {within:g} s"
            case Hopeless(seen, own_remedy, own_commands):
                what = f"{otherwise}; given up after {outcome.waited:.0f} s"
                remedy, commands = own_remedy or remedy, (*own_commands, *commands)
            case _:
                return
        raise error(what, where=where, seen=seen, remedy=remedy, commands=commands)

    def end(self, thread: threading.Thread) -> None:
        """Let all waits of a thread raise `Interrupted`, from the one on that it is in."""
        self.ended.add(thread)
        with self.changes.condition:
            self.changes.condition.notify_all()

    def _look(
        self, look: Callable[[], Sight], seconds: float, is_settled: Callable[[Sight], bool]
    ) -> Outcome:
        """Look until it is settled or the seconds are over, as long as the watches tell."""
        started = self.clock.now()
        while True:
            if threading.current_thread() in self.ended:
                raise Interrupted("told to end")
            seen = self.changes.last
            sight = look()
            waited = self.clock.now() - started
            blind = self._blind()
            if not blind and (is_settled(sight) or waited >= seconds):
                return Outcome(sight, waited)
            if blind and waited >= max(seconds, _BLIND_SECONDS):
                raise blind
            if told := blind.what if blind else _seen(sight):
                self.waiting.sees(told)
            left = seconds - waited if seconds > waited else _LOOK_SECONDS
            self._wait_for_change(seen, min(left, _LOOK_SECONDS))

    def _blind(self) -> "ApiFailed | None":
        """Return why the cluster cannot be watched now, None while it can."""
        watched = (self.nodes, self.plugins, self.pods, self.events)
        return next((each.error for each in watched if each.error), None)

    def _wait_for_change(self, seen: int, seconds: float) -> None:
        with self.changes.condition:
            if self.changes.last == seen:
                self.clock.wait(self.changes.condition, seconds)


def _seen(sight: Sight) -> str:
    return "" if isinstance(sight, Met) else sight.seen


@contextmanager
def viewing(connection: "Connection", namespace: str, clock: Clock) -> Iterator[View]:
    """Watch a lab's cluster, and a namespace of it, inside the block."""
    changes = Changes()
    inside = f"/api/v1/namespaces/{namespace}"
    plugins = (("labelSelector", SELECTOR),)
    view = View(
        clock,
        changes,
        Informer(connection, "/api/v1/nodes", reading.node, changes),
        Informer(connection, f"/api/v1/namespaces/{NAMESPACE}/pods", reading.pod, changes, plugins),
        Informer(connection, f"{inside}/pods", reading.pod, changes),
        Informer(connection, f"{inside}/events", reading.event, changes),
    )
    with ExitStack() as stack:
        for each in (view.nodes, view.plugins, view.pods, view.events):
            stack.enter_context(each.watching())
        yield view
