"""Places of a file where something is wrong, so that one mistake is not told twice."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.core.fleet.findings import Finding, KeyPath


@dataclass(frozen=True)
class Places:
    """The places of findings, asked about by path."""

    exact: frozenset[KeyPath]
    enclosing: frozenset[KeyPath]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> "Places":
        """Return the places of these findings."""
        paths = [each.path for each in findings]
        enclosing = frozenset(path[:end] for path in paths for end in range(len(path) + 1))
        return cls(frozenset(paths), enclosing)

    def covers(self, path: KeyPath) -> bool:
        """Whether a finding is at the path or above it."""
        return any(path[:end] in self.exact for end in range(len(path) + 1))

    def clear_of(self, path: KeyPath) -> bool:
        """Whether no finding is at the path, above it or below it."""
        return path not in self.enclosing and not self.covers(path)
