"""All checks on one plugin, one after the other."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lab.conformance.check import Check, Failed, NotApplicable, Result, Tried, Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.contract import CHECKS
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from lab.conformance.trial import Trial
from lab.core.progress import Progress, Step
from lab.embedded.kubelet.connection import PluginError
from lab.host.processes import Processes

#: Not where `TMPDIR` says: the path of a socket may not be long.
_PLACE: Final = "/tmp"  # noqa: S108 - the folder in it is made for its user alone


def examine(
    command: PluginCommand,
    *,
    resource: str,
    limits: Limits,
    progress: Progress,
    checks: Sequence[Check[Trial]] = CHECKS,
) -> Report:
    """Make all checks on the plugin that the command starts, and leave nothing behind.

    Raises `NotReady` where the plugin does not start, or its folder cannot be served.
    """
    with (
        TemporaryDirectory(prefix="gpulab-", dir=_PLACE) as work,
        progress.step("Try the plugin") as step,
    ):
        trial = Trial(command, Path(work), limits=limits, processes=Processes(), resource=resource)
        try:
            found = results(trial, checks, step)
        finally:
            trial.close()
    return Report(command.argv, trial.resource, tuple(trial.resources()), found)


def results(tried: Tried, checks: Iterable[Check[Tried]], step: Step) -> tuple[Result, ...]:
    """Make the checks; after a failure, the next has a plugin that is as new."""
    found: dict[str, Result] = {}
    for each in checks:
        step.update(each.rule.title)
        found[each.rule.id] = result = _result(each, tried, found)
        if result.verdict is Verdict.FAILED:
            tried.renew()
    return tuple(found.values())


def _result(check: Check[Tried], tried: Tried, before: Mapping[str, Result]) -> Result:
    rule = check.rule
    for needed in rule.needs:
        if before[needed].verdict is not Verdict.PASSED:
            return Result(rule, Verdict.NOT_APPLICABLE, f"needs {needed!r}, which did not pass")
    try:
        return Result(rule, Verdict.PASSED, check.make(tried))
    except Failed as problem:
        return Result(rule, Verdict.FAILED, str(problem))
    except PluginError as problem:
        end = tried.end_of_plugin()
        return Result(rule, Verdict.FAILED, f"{problem}; {end}" if end else str(problem))
    except NotApplicable as reason:
        return Result(rule, Verdict.NOT_APPLICABLE, str(reason))
