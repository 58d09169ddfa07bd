"""Speaks to people: progress on stderr (a spinner on a terminal, plain lines elsewhere).

Whether there is a terminal is asked of the stream and of CI, never of colour settings: a
FORCE_COLOR in a CI log must not start an animation (pypa/pip#13354).
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from io import TextIOBase
from typing import TextIO, cast

from lab.core.progress import Progress, Step


def progress_for(
    stream: TextIO | None = None, environment: Mapping[str, str] | None = None
) -> Progress:
    """Return the progress that fits the stream (default: stderr)."""
    lasting = cast("TextIO", Lasting(stream or sys.stderr))
    env = os.environ if environment is None else environment
    if lasting.isatty() and not env.get("CI") and env.get("TERM") != "dumb":
        from lab.cli.spinner import LiveProgress

        return LiveProgress(lasting)
    return PlainProgress(lasting)


class Lasting(TextIOBase):
    """A stream whose reader may go, as with `gpulab up 2>&1 | head`: the work itself goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute above
        """The encoding that characters are chosen for."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor, of which a terminal's size is asked."""
        return self._stream.fileno()

    def write(self, text: str) -> int:
        """Write what can be written."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with suppress(OSError):
            self._stream.flush()


class PlainProgress:
    """One line when a step starts and one when it ends, each with the seconds so far."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._started = time.monotonic()

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """See `Progress.step`."""
        step = PlainStep()
        started = time.monotonic()
        self._line("•", f"{title} …")
        try:
            yield step
        except BaseException:
            self._line("✗", f"{title} ({time.monotonic() - started:.1f} s)")
            raise
        suffix = "already there" if step.was_cached else f"{time.monotonic() - started:.1f} s"
        self._line("✓", f"{title} ({suffix})")

    def note(self, text: str) -> None:
        """See `Progress.note`."""
        self._line("·", text)

    def _line(self, mark: str, text: str) -> None:
        with self._lock:
            elapsed = time.monotonic() - self._started
            self._stream.write(f"{elapsed:6.1f} s {mark} {text}\n")
            self._stream.flush()


class PlainStep:
    """A step of a log: details that come and go are left out."""

    was_cached = False

    def update(self, detail: str) -> None:
        """See `Step.update`."""

    def cached(self) -> None:
        """See `Step.cached`."""
        self.was_cached = True
