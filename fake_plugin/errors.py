"""Why the plugin does not start: what is wrong, where, what was seen, what to do.

    StartError
    ├── WrongUse     exit 2   the command line or the fleet file is wrong
    └── NotReady     exit 3   the node lacks something: a folder, or the right to write to it

The codes are those of `gpulab`, so that one table describes both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar


class StartError(Exception):
    """The plugin cannot start; `facts` are what its log line shows."""

    exit_code: ClassVar[int]

    def __init__(self, what: str, *, where: str, seen: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.seen = seen
        self.remedy = remedy

    def facts(self) -> dict[str, str]:
        """Return the fields that say something, by their names."""
        facts = {"where": self.where, "seen": self.seen, "remedy": self.remedy}
        return {name: text for name, text in facts.items() if text}


class WrongUse(StartError):
    """The command line or the fleet file is wrong; `key` leads from a pool to what is wrong."""

    exit_code = 2

    def __init__(
        self, what: str, *, where: str, seen: str = "", remedy: str = "", key: tuple[str, ...] = ()
    ) -> None:
        super().__init__(what, where=where, seen=seen, remedy=remedy)
        self.key = key


class NotReady(StartError):
    """The node lacks something that the plugin needs."""

    exit_code = 3


@contextmanager
def needing(path: Path, otherwise: str, remedy: str) -> Iterator[None]:
    """Raise `NotReady`, with the system's own word, where it refuses a path inside the block."""
    try:
        yield
    except OSError as problem:
        raise NotReady(
            otherwise, where=str(path), seen=problem.strerror or str(problem), remedy=remedy
        ) from problem
