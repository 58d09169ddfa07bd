"""What all checks on a plugin came to."""

from dataclasses import dataclass

from lab.conformance.check import Result, Verdict
from lab.core.errors import LabError
from lab.host.processes import pasteable


@dataclass(frozen=True)
class Report:
    """The results, in the order of the checks.

    `command` is what started the plugin, and `image` the image in which it did, "" for a process
    of this machine. `resources` are all that the plugin wanted to register. `problem` is why it
    is not complete, or what was left behind.
    """

    command: tuple[str, ...]
    resource: str
    resources: tuple[str, ...]
    results: tuple[Result, ...]
    image: str = ""
    problem: LabError | None = None

    @property
    def tried(self) -> str:
        """Return what was tried, as the user has named it."""
        return self.image or pasteable(self.command)

    def of(self, verdict: Verdict) -> tuple[Result, ...]:
        """Return the results with that verdict."""
        return tuple(each for each in self.results if each.verdict is verdict)

    def as_json(self) -> dict[str, object]:
        """Return the contract of `gpulab conform --output json`."""
        return {
            "image": self.image,
            "command": pasteable(self.command),
            "resource": self.resource,
            "resources": list(self.resources),
            "passed": len(self.of(Verdict.PASSED)),
            "failed": len(self.of(Verdict.FAILED)),
            "notApplicable": len(self.of(Verdict.NOT_APPLICABLE)),
            "undecided": len(self.of(Verdict.UNDECIDED)),
            "problem": self.problem.what if self.problem else "",
            "checks": [
                {
                    "id": each.rule.id,
                    "title": each.rule.title,
                    "verdict": each.verdict.value,
                    "seen": each.seen,
                    "why": each.rule.why,
                    "source": each.rule.source,
                }
                for each in self.results
            ],
        }
