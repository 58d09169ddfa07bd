"""SIGTERM and a closed terminal end a run as Ctrl-C does: its labs are taken down."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from types import FrameType
from typing import Final, TypeAlias

_ALL: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_Handler: TypeAlias = Callable[[int, FrameType | None], object] | int | signal.Handlers | None


class Interruptions:
    """What signals do in a process of a run."""

    def __init__(self) -> None:
        #: Whether one was sent: the run does not end by itself.
        self.came = False
        self._before: dict[signal.Signals, _Handler] = {}

    def heed(self) -> None:
        """Let them raise KeyboardInterrupt, where nobody else has a use for them."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _ALL:
            before = signal.getsignal(number)
            if before in {signal.SIG_DFL, signal.default_int_handler}:
                self._before[number] = before
                signal.signal(number, self._raise)

    def _raise(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - signal's shape
        # A worker is told by the terminal and by the process above it: what it tidies up after the
        # first is not to be broken off by the second.
        if number == signal.SIGINT or not self.came:
            self.came = True
            raise KeyboardInterrupt(signal.Signals(number).name)

    def ignore_again(self) -> None:
        """Let them do what they did before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @contextmanager
    def held_off(self) -> Iterator[None]:
        """Inside the block the first signal only says what is going on, and the second ends it."""
        turns = count(1)

        def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's shape
            name = signal.Signals(number).name
            if next(turns) == 1:
                _say(f"\n{name}: still taking labs down; once more leaves them as they are\n")
                return
            raise KeyboardInterrupt(name)

        before = {number: signal.signal(number, on_signal) for number in _ALL}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(sys.stderr.fileno(), text.encode())
