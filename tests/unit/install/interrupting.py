"""A user who presses Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lab.core.errors import Interrupted
from lab.core.progress import Progress, Step


@dataclass(frozen=True)
class Interrupting:
    """A progress whose user presses Ctrl-C when a step begins."""

    progress: Progress
    at: str

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Raise what the signal's handler would."""
        with self.progress.step(title) as step:
            if title == self.at:
                raise Interrupted("interrupted by SIGINT")
            yield step

    def note(self, text: str) -> None:
        """Do as at any note."""
        self.progress.note(text)
