"""Ctrl-C, SIGTERM and a closed terminal become one exception, so that all end the same way.

The first signal raises `Interrupted` in the main thread. What unwinds then may take a while
(clusters are removed), so a second one only says so, and a third ends it where it stands.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from types import FrameType
from typing import Final

from lab.core.errors import Interrupted

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def raise_interrupted() -> Iterator[None]:
    """Let signals raise `Interrupted` inside the block."""
    turns = count(1)

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's shape
        # In one step: a second signal can arrive while the first one is being handled.
        turn = next(turns)
        name = signal.Signals(number).name
        if turn == 2:  # noqa: PLR2004 - the second of three
            _say(f"{name}: still cleaning up; once more leaves it as it is\n")
            return
        raise Interrupted(f"interrupted by {name}")

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS if _heeded(number)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded(number: signal.Signals) -> bool:
    """Return False for the SIGHUP of a command that `nohup` keeps running."""
    return number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN


def _say(text: str) -> None:
    # Past the stream's buffer: the main thread may be writing to it just now, and a terminal that
    # was closed must not break the clean-up off.
    with suppress(OSError):
        os.write(sys.stderr.fileno(), text.encode())
