"""What all expectations have in common: wait, and turn what was not met into a report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.cluster.objects import Event
from lab.harness.failure import ExpectationFailed
from lab.harness.sight import Hopeless, Sight
from lab.harness.view import Outcome, View


@dataclass(frozen=True)
class Expecting:
    """One thing that is looked at: what it is called, and how to show more of it.

    `about` returns the events that matter. `commands` are to be pasted by whoever reads of a
    failure.
    """

    view: View
    subject: str
    about: Callable[[], Sequence[Event]]
    commands: tuple[str, ...]

    def until(self, awaited: str, look: Callable[[], Sight], within: float) -> None:
        """Wait until it is so; raises `ExpectationFailed`."""
        with self.view.waiting.of(f"{self.subject}: {awaited}"):
            outcome = self.view.until(look, within)
        self._require(awaited, outcome, within)

    def throughout(self, awaited: str, look: Callable[[], Sight], lasting: float) -> None:
        """See that it stays so; raises `ExpectationFailed` as soon as it does not."""
        with self.view.waiting.of(f"{self.subject}: {awaited}, for {lasting:g} s"):
            outcome = self.view.throughout(look, lasting)
        self._require(awaited, outcome, lasting)

    def _require(self, awaited: str, outcome: Outcome, limit: float) -> None:
        if outcome.is_met:
            return
        own = outcome.sight.commands if isinstance(outcome.sight, Hopeless) else ()
        raise ExpectationFailed(
            awaited,
            subject=self.subject,
            seen=outcome.seen,
            waited=outcome.waited,
            limit=limit,
            events=self.about(),
            commands=(*own, *self.commands),
        )
