"""An expectation that was not met, told so that whoever reads it need not look anything up."""

from collections.abc import Sequence
from typing import Final

from lab.cluster.objects import Event
from lab.core.errors import CheckFailed

_SHOWN_EVENTS: Final = 6


class ExpectationFailed(CheckFailed, AssertionError):
    """What was awaited of what, for how long, and what was seen last.

    Without a `limit`, in seconds, it was looked at once, and nothing is said of how long it took.
    `events` are what components of the cluster said of it, the newest last. `commands` show more.
    It is an AssertionError, so that pytest counts a failure and not an error.
    """

    def __init__(  # noqa: PLR0913 - each is one line of the report
        self,
        awaited: str,
        *,
        subject: str,
        seen: str,
        waited: float = 0,
        limit: float | None = None,
        events: Sequence[Event] = (),
        commands: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            f"{subject}: expected: {awaited}{_ended(waited, limit)}",
            where=subject,
            seen="\n".join((seen, *map(_told, events[-_SHOWN_EVENTS:]))),
            remedy="look at what is there",
            commands=commands,
        )
        self.awaited = awaited
        self.waited = waited
        self.events = tuple(events)


def _ended(waited: float, limit: float | None) -> str:
    if limit is None:
        return ""
    return f"; not within {limit:g} s" if waited >= limit else f"; over after {waited:.1f} s"


def _told(event: Event) -> str:
    times = f" ({event.count} times)" if event.count > 1 else ""
    at = f"{event.last:%H:%M:%S} " if event.last else ""
    return f"{at}{event.type} {event.reason}{times} from {event.source}: {event.message}"
