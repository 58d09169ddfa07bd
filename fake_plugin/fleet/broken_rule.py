"""A rule that values of a pool break together, told apart from how each side words its errors."""

from dataclasses import dataclass
from typing import TypeAlias

#: Keys and indices that lead from the pool to a value.
Path: TypeAlias = tuple[str | int, ...]


def written_path(path: Path) -> str:
    """Return a path as it is written, such as `partitions.layout[0].devices`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@dataclass(frozen=True)
class BrokenRule:
    """What is wrong at a place below a pool, the rule that says so, and what would be right."""

    path: Path
    what: str
    rule: str = ""
    remedy: str = ""

    @property
    def place(self) -> str:
        """Return the path as it is written."""
        return written_path(self.path)

    def __str__(self) -> str:
        rule = f" ({self.rule})" if self.rule else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.what}{rule}{remedy}"
