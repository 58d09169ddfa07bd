"""How long work reports on itself, without knowing whether a person or a log reads it."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Progress(Protocol):
    """Told of steps as they start, move and end. Safe to call from several threads."""

    def step(self, title: str) -> AbstractContextManager["Step"]:
        """Open a step: it is done when the context ends, failed when that raises."""
        ...

    def note(self, text: str) -> None:
        """Say one line that belongs to no step: a choice that was made, and why."""
        ...


class Step(Protocol):
    """One running step."""

    def update(self, detail: str) -> None:
        """Replace the short text behind the title, such as `3 of 7`."""
        ...

    def cached(self) -> None:
        """Mark the step as found done already."""
        ...


class Silence:
    """Tells nobody: for work that is a small part of what is reported on already."""

    def step(self, title: str) -> AbstractContextManager[Step]:
        """See `Progress.step`."""
        del title
        return nullcontext(self)

    def note(self, text: str) -> None:
        """See `Progress.note`."""

    def update(self, detail: str) -> None:
        """See `Step.update`."""

    def cached(self) -> None:
        """See `Step.cached`."""
