"""Changes of health that come by themselves: the fleet's script, and flaps by command.

Times are the system's monotonic ones. Where a change comes late, because writing the state took
longer than it should, the next one keeps its distance from it: there are no bursts.
"""

import heapq
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

from fake_plugin import events
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Becomes, Breakage
from fake_plugin.log import Sparingly, say

_REPEAT_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Turn:
    """A change of some units `after` seconds from now; `times` in all, None for ever.

    `every` is the time between two, None where there is one only.
    """

    units: tuple[str, ...]
    becomes: Becomes
    breakage: Breakage
    after: float
    every: float | None = None
    times: int | None = None


@dataclass(frozen=True, order=True)
class _Due:
    at: float
    #: Of two that are due at once, the one that was planned first comes first.
    number: int


class Script:
    """Makes changes at their times, in a thread of its own from `start` to `stop`."""

    def __init__(self, board: Board, turns: Iterable[Turn] = ()) -> None:
        """Have these turns wait for the start."""
        self._board = board
        self._numbers = count()
        self._waiting: list[tuple[_Due, Turn]] = []
        self._changed = threading.Condition()
        #: Held while a change is made: what is cleared does not happen any more.
        self._making = threading.Lock()
        self._cleared = 0
        self._stopping = False
        self._failure_said = Sparingly(_REPEAT_SECONDS)
        self._first = tuple(turns)
        self._thread = threading.Thread(target=self._run, name="script", daemon=True)

    def start(self) -> None:
        """Begin to count the time."""
        for turn in self._first:
            self.add(turn)
        self._thread.start()

    def stop(self) -> None:
        """End, whatever was still to come."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, turn: Turn) -> None:
        """Have one more turn come at its time."""
        with self._changed:
            self._plan(turn, time.monotonic() + turn.after)
            self._changed.notify_all()

    def clear(self) -> int:
        """Forget all that is still to come; return how many turns that were.

        A change that is being made now is waited for, and is the last one.
        """
        with self._making, self._changed:
            self._cleared += 1
            number = len(self._waiting)
            self._waiting.clear()
        return number

    def turns(self) -> tuple[Turn, ...]:
        """Return what is still to come."""
        with self._changed:
            return tuple(turn for _, turn in sorted(self._waiting, key=lambda each: each[0]))

    def _plan(self, turn: Turn, at: float) -> None:
        heapq.heappush(self._waiting, (_Due(at, next(self._numbers)), turn))

    def _run(self) -> None:
        while due := self._next():
            turn, cleared = due
            with self._making:
                if cleared == self._cleared:
                    self._try(turn)

    def _try(self, turn: Turn) -> None:
        try:
            self._board.change_units(turn.units, turn.becomes, turn.breakage)
        except OSError as problem:
            if self._failure_said.is_due(str(problem)):
                say(events.STATE_NOT_WRITTEN, reason=str(problem))

    def _next(self) -> tuple[Turn, int] | None:
        """Return the next turn when it is due, and how often all was cleared; None at the end."""
        with self._changed:
            while not self._stopping:
                left = self._waiting[0][0].at - time.monotonic() if self._waiting else None
                if left is not None and left <= 0:
                    _, turn = heapq.heappop(self._waiting)
                    self._plan_again(turn)
                    return turn, self._cleared
                self._changed.wait(left)
        return None

    def _plan_again(self, turn: Turn) -> None:
        if turn.every is None or turn.times == 1:
            return
        left = None if turn.times is None else turn.times - 1
        self._plan(replace(turn, times=left), time.monotonic() + turn.every)
