"""Time as whoever waits sees it: a cluster whose time is virtual lets it pass at once."""

import threading
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A clock that waits can go by: whoever waits does so in its own thread.

    It calls nobody back, as that of the embedded kubelet does (`lab.embedded.clock`): what a
    harness waits for is told by a watch, and a time at which to give up is all that it needs.
    """

    def now(self) -> float:
        """Return seconds since some moment; they never go back."""
        ...

    def moment(self) -> datetime:
        """Return the time of day, as the cluster's components write it, in UTC."""
        ...

    def wait(self, changed: threading.Condition, seconds: float) -> None:
        """Wait until the condition, which the caller holds, is notified, or the time is over."""
        ...


class SystemClock:
    """The machine's own time."""

    def now(self) -> float:
        """Return the machine's monotonic seconds."""
        return time.monotonic()

    def moment(self) -> datetime:
        """Return the time of day in UTC."""
        return datetime.now(UTC)

    def wait(self, changed: threading.Condition, seconds: float) -> None:
        """Sleep until one of both."""
        changed.wait(seconds)
