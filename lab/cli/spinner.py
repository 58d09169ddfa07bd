"""Progress on a terminal: a spinner per running step, a line with its seconds when it ends.

Imported only where there is a terminal, because rich costs 60 ms.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from lab.core.progress import Step

_SPINNER: Final = "dots"


class LiveProgress:
    """A spinner per running step, replaced by a line with its seconds when it ends."""

    def __init__(self, stream: TextIO) -> None:
        self._console: Console = Console(file=stream, highlight=False, emoji=False)
        self._lock = threading.Lock()
        self._running: list[LiveStep] = []
        self._live = Live(
            console=self._console, transient=True, refresh_per_second=12, get_renderable=self._rows
        )

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """See `Progress.step`."""
        step = LiveStep(title)
        self._show(step)
        try:
            yield step
        except BaseException:
            self._finish(step, "[red]✗[/red]")
            raise
        self._finish(step, "[green]✓[/green]")

    def note(self, text: str) -> None:
        """See `Progress.note`."""
        self._console.print(f" · {text}", style="dim", markup=False)

    def _show(self, step: "LiveStep") -> None:
        with self._lock:
            self._running.append(step)
            if len(self._running) == 1:
                self._live.start()

    def _finish(self, step: "LiveStep", mark: str) -> None:
        with self._lock:
            self._running.remove(step)
            if not self._running:
                self._live.stop()
            suffix = "already there" if step.was_cached else f"{step.seconds():.1f} s"
            self._console.print(f" {mark} {escape(step.title)} [dim]{suffix}[/dim]")

    def _rows(self) -> Group:
        return Group(*(step.row() for step in tuple(self._running)))


class LiveStep:
    """A step that is drawn as a spinner."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.was_cached = False
        self._started = time.monotonic()
        self._spinner = Spinner(_SPINNER)
        self._detail = ""

    def update(self, detail: str) -> None:
        """See `Step.update`."""
        self._detail = detail

    def cached(self) -> None:
        """See `Step.cached`."""
        self.was_cached = True

    def seconds(self) -> float:
        """Return how long the step has run."""
        return time.monotonic() - self._started

    def row(self) -> Text:
        """Return the row for now, and below it one for the detail."""
        detail = f"\n  {self._detail}" if self._detail else ""
        told = f" {self.title}  {self.seconds():.0f} s{detail}"
        frame = cast("Text", self._spinner.render(time.monotonic()))
        # A detail may be long, and rows that break would jump with it.
        return Text.assemble(frame, told, no_wrap=True, overflow="ellipsis")
