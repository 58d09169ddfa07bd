"""All checks on one plugin, one after the other, and the report of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lab.conformance.check import Check, Failed, NotApplicable, Result, Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.contract import CHECKS
from lab.conformance.limits import Limits
from lab.conformance.trial import Trial
from lab.core.progress import Progress
from lab.embedded.kubelet.connection import PluginError
from lab.host.processes import Processes, pasteable

#: Not where `TMPDIR` says: the path of a socket may not be long.
_PLACE: Final = "/tmp"  # noqa: S108 - the folder in it is made for its user alone


@dataclass(frozen=True)
class Report:
    """What all checks came to; `resources` are all that the plugin wanted to register."""

    command: tuple[str, ...]
    resource: str
    resources: tuple[str, ...]
    results: tuple[Result, ...]

    def of(self, verdict: Verdict) -> tuple[Result, ...]:
        """Return the results with that verdict."""
        return tuple(each for each in self.results if each.verdict is verdict)

    def as_json(self) -> dict[str, object]:
        """Return the contract of `gpulab conform --output json`."""
        return {
            "command": pasteable(self.command),
            "resource": self.resource,
            "resources": list(self.resources),
            "passed": len(self.of(Verdict.PASSED)),
            "failed": len(self.of(Verdict.FAILED)),
            "notApplicable": len(self.of(Verdict.NOT_APPLICABLE)),
            "checks": [
                {
                    "id": each.check.id,
                    "title": each.check.title,
                    "verdict": each.verdict.value,
                    "seen": each.seen,
                    "why": each.check.why,
                    "source": each.check.source,
                }
                for each in self.results
            ],
        }


def examine(
    command: PluginCommand,
    *,
    resource: str,
    limits: Limits,
    progress: Progress,
    checks: Sequence[Check] = CHECKS,
) -> Report:
    """Make all checks on the plugin that the command starts, and leave nothing behind.

    Raises `NotReady` where the plugin does not start, or its folder cannot be served.
    """
    with TemporaryDirectory(prefix="gpulab-", dir=_PLACE) as work:
        trial = Trial(command, Path(work), limits=limits, processes=Processes(), resource=resource)
        try:
            results = _results(trial, checks, progress)
        finally:
            trial.close()
    return Report(command.argv, trial.resource, tuple(trial.resources()), results)


def _results(trial: Trial, checks: Iterable[Check], progress: Progress) -> tuple[Result, ...]:
    results: dict[str, Result] = {}
    with progress.step("Try the plugin") as step:
        for each in checks:
            step.update(each.title)
            results[each.id] = result = _result(each, trial, results)
            if result.verdict is Verdict.FAILED:
                # What one check has spoilt is not to fail the next.
                trial.end_plugin()
    return tuple(results.values())


def _result(check: Check, trial: Trial, before: dict[str, Result]) -> Result:
    for needed in check.needs:
        if before[needed].verdict is not Verdict.PASSED:
            return Result(check, Verdict.NOT_APPLICABLE, f"needs {needed!r}, which did not pass")
    try:
        return Result(check, Verdict.PASSED, check.make(trial))
    except Failed as problem:
        return Result(check, Verdict.FAILED, str(problem))
    except PluginError as problem:
        has_ended = trial.process and trial.process.has_ended
        end = f"; {trial.end_of_plugin()}" if has_ended else ""
        return Result(check, Verdict.FAILED, f"{problem}{end}")
    except NotApplicable as reason:
        return Result(check, Verdict.NOT_APPLICABLE, str(reason))
