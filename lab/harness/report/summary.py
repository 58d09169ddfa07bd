"""All tests of a run in figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from lab.harness.report.again import commands
from lab.harness.results import Result, Verdict

#: What a result has for a backend or a version that nobody knew.
_UNKNOWN: Final = frozenset({""})


@dataclass(frozen=True)
class Summary:
    """How many tests came to which verdict, from when to when, on what; `again` runs the failed."""

    counts: dict[Verdict, int]
    began: datetime
    ended: datetime
    backends: tuple[str, ...]
    versions: tuple[str, ...]
    again: tuple[str, ...]

    @classmethod
    def of(cls, results: Sequence[Result]) -> "Summary":
        """Count some results, of which there is one at least."""
        counted = Counter(each.verdict for each in results)
        verdicts: tuple[Verdict, ...] = ("failed", "passed", "skipped")
        return cls(
            {verdict: counted[verdict] for verdict in verdicts},
            min(each.started for each in results),
            max(each.started + timedelta(seconds=each.seconds) for each in results),
            tuple(sorted({each.backend for each in results} - _UNKNOWN)),
            tuple(sorted({each.kubernetes for each in results} - _UNKNOWN)),
            tuple(commands(each for each in results if each.verdict == "failed")),
        )

    @property
    def total(self) -> int:
        """Return how many tests there were."""
        return sum(self.counts.values())
