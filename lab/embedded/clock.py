"""Real or virtual time, and timers on it.

The kubelet waits ten seconds for a plugin to answer and five minutes for it to come back. On a
`VirtualClock` both pass as soon as a test says so, and nothing else changes: whoever waits asks the
clock, and nobody sleeps.
"""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(order=True)
class Timer:
    """A call that is to be made at `due`, in seconds of the clock that it was made by."""

    due: float
    number: int
    call: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        """Let the call not be made; once it was, this does nothing."""
        self.cancelled = True


class Clock(Protocol):
    """What tells the time, in seconds since some moment, and calls back when it has come.

    Nobody can wait by it, as by that of the harness (`lab.core.clock`): a kubelet whose threads
    slept would have to be woken for its time to pass. It knows no time of day.
    """

    def now(self) -> float:
        """Return the time."""

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make the call after the seconds, in a thread of the clock's choice."""


@contextmanager
def alarm(clock: Clock, seconds: float, ring: Callable[[], None]) -> Iterator[None]:
    """Call `ring` where the body takes longer than the seconds."""
    timer = clock.call_later(seconds, ring)
    try:
        yield
    finally:
        timer.cancel()


class _Agenda:
    """Timers by the time at which they are due, and by their age where that is the same."""

    def __init__(self) -> None:
        self._timers: list[Timer] = []
        self._numbers = itertools.count()

    def add(self, due: float, call: Callable[[], None]) -> Timer:
        timer = Timer(due, next(self._numbers), call)
        heapq.heappush(self._timers, timer)
        return timer

    def next(self) -> Timer | None:
        """Return the first timer that still counts, and leave it there."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0] if self._timers else None

    def pending(self) -> list[float]:
        return sorted(timer.due for timer in self._timers if not timer.cancelled)

    def take(self, until: float) -> Timer | None:
        """Return the first timer that is due by then, and take it away."""
        timer = self.next()
        if timer is None or timer.due > until:
            return None
        return heapq.heappop(self._timers)


class VirtualClock:
    """Stands still but for `advance`, whose thread makes the calls that fall due."""

    def __init__(self) -> None:
        self._now = 0.0
        self._agenda = _Agenda()
        self._lock = threading.Lock()

    def now(self) -> float:
        """Return the seconds that this clock was advanced by."""
        return self._now

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make the call within the `advance` that passes this moment."""
        with self._lock:
            return self._agenda.add(self._now + seconds, call)

    def advance(self, seconds: float) -> None:
        """Let time pass; what falls due is called in order, each at its own time."""
        end = self._now + seconds
        while timer := self._take(end):
            timer.call()
        self._now = end

    def pending(self) -> list[float]:
        """Return when calls are due that are still to be made."""
        with self._lock:
            return self._agenda.pending()

    def _take(self, end: float) -> Timer | None:
        with self._lock:
            timer = self._agenda.take(end)
            if timer:
                self._now = max(self._now, timer.due)
            return timer


class RealClock:
    """The machine's time, or a multiple of it: with a speed of 20, 10 seconds are half of one.

    A thread makes the calls, as long as there are any to come.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self._speed = speed
        self._agenda = _Agenda()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def now(self) -> float:
        """Return the time, which never goes back."""
        return time.monotonic() * self._speed

    def call_later(self, seconds: float, call: Callable[[], None]) -> Timer:
        """Make the call once the seconds have passed."""
        with self._changed:
            timer = self._agenda.add(self.now() + seconds, call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="clock", daemon=True)
                self._thread.start()
            self._changed.notify()
        return timer

    def _run(self) -> None:
        while timer := self._wait_for_next():
            timer.call()

    def _wait_for_next(self) -> Timer | None:
        """Return the next timer when it is due; None, with the thread gone, where there is none."""
        with self._changed:
            while True:
                if timer := self._agenda.take(self.now()):
                    return timer
                following = self._agenda.next()
                if following is None:
                    self._thread = None
                    return None
                self._changed.wait(max(following.due - self.now(), 0) / self._speed)
