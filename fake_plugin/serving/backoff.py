"""How long to wait between attempts: longer each time, up to a limit, and never in step."""

import random
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Seconds to wait after the first failure, and the most after many."""

    first: float
    most: float


class Backoff:
    """Remembers failures, and from when on the next attempt is due."""

    def __init__(self) -> None:
        self._failures = 0
        self._due_at = 0.0

    def failed(self, pace: Pace) -> None:
        """Put the next attempt off: twice as long as last time, less up to a half at random.

        The chance keeps the plugins of many nodes from asking in step.
        """
        self._failures = min(self._failures + 1, 30)
        longest = min(pace.most, pace.first * 2 ** (self._failures - 1))
        self._due_at = time.monotonic() + longest * random.uniform(0.5, 1)  # noqa: S311 - no secret

    def reset(self) -> None:
        """Forget all failures: the next attempt is due now."""
        self._failures = 0
        self._due_at = 0.0

    def seconds_left(self) -> float:
        """Return how long the next attempt has to wait, 0 where it is due."""
        return max(0.0, self._due_at - time.monotonic())
