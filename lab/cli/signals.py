"""Ctrl-C, SIGTERM and a closed terminal become one exception, so that all end the same way.

The first signal raises `Interrupted` in the main thread. What unwinds then may take a while
(clusters are removed), so a second one only says so, and a third ends it where it stands.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from lab.core.errors import Interrupted

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def raise_interrupted() -> Iterator[None]:
    """Let signals raise `Interrupted` inside the block."""
    received: list[int] = []

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's shape
        received.append(number)
        name = signal.Signals(number).name
        if len(received) == 2:  # noqa: PLR2004 - the second of three
            sys.stderr.write(f"{name}: still cleaning up; once more leaves it as it is\n")
            return
        raise Interrupted(f"interrupted by {name}")

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
