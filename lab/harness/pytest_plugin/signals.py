"""SIGTERM and a closed terminal end a run as Ctrl-C does: its labs are taken down."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from types import FrameType
from typing import Final

_ASKING: Final = (signal.SIGTERM, signal.SIGHUP)
_ALL: Final = (signal.SIGINT, *_ASKING)


class Interruptions:
    """What signals do in a process of a run."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, signal.Handlers] = {}

    def heed(self) -> None:
        """Let them raise KeyboardInterrupt, where nobody else has a use for them.

        Only the first does: who sends more than one, as to a whole group of processes, would
        interrupt the tidying up.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        for number in _ASKING:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _raise_once)
                self._before[number] = signal.SIG_DFL

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


def _raise_once(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's shape
    for each in _ASKING:
        if signal.getsignal(each) is _raise_once:
            signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(signal.Signals(number).name)


def _say(text: str) -> None:
    with suppress(OSError):
        os.write(sys.stderr.fileno(), text.encode())
