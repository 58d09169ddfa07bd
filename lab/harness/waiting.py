"""What is waited for just now, for whoever shows it while a test is at work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


def _nobody(_: str) -> None:
    """Tell nobody."""


@dataclass
class Waiting:
    """`told` hears what is awaited and what is there instead, in one line, at each look."""

    told: Callable[[str], None] = _nobody
    _awaited: str = ""

    @contextmanager
    def of(self, awaited: str) -> Iterator[None]:
        """Wait for this inside the block."""
        self._awaited = awaited
        self.told(awaited)
        try:
            yield
        finally:
            self._awaited = ""
            self.told("")

    def sees(self, seen: str) -> None:
        """Tell what there is so far."""
        last = " ".join(seen.split())
        self.told(f"{self._awaited}; so far: {last}" if self._awaited else last)
