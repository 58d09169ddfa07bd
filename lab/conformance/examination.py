"""All checks on one plugin, one after the other."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lab.conformance.check import Check, Failed, NotApplicable, OnTrial, Result, Tried, Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.contract import CHECKS
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from lab.conformance.trial import Trial
from lab.core.errors import LabError
from lab.core.progress import Progress, Step
from lab.embedded.kubelet.connection import PluginError
from lab.host.processes import Processes

#: Not where `TMPDIR` says: the path of a socket may not be long.
_PLACE: Final = "/tmp"  # noqa: S108 - the folder in it is made for its user alone
_ILL: Final = frozenset({Verdict.FAILED, Verdict.UNDECIDED})


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
        suppress(NotWell),
        progress.step("Try the plugin") as step,
    ):
        trial = Trial(command, Path(work), limits=limits, processes=Processes(), resource=resource)
        try:
            found, problem = results(trial, checks, step)
        finally:
            trial.close()
        refuse(found, problem)
    return Report(command.argv, trial.resource, tuple(trial.resources()), found, problem=problem)


class NotWell(Exception):
    """Ends a step as one that has failed; there is a report all the same."""


def refuse(found: Iterable[Result], problem: LabError | None) -> None:
    """Raise `NotWell` where something failed or is undecided, or there is a problem."""
    if problem or any(each.verdict in _ILL for each in found):
        raise NotWell


def results(
    tried: Tried, checks: Iterable[Check[Tried]], step: Step
) -> tuple[tuple[Result, ...], LabError | None]:
    """Make the checks; after a failure, the next has a plugin that is as new.

    Where there is none to be had any more, the rest is undecided, and the reason is returned too.
    """
    found: dict[str, Result] = {}
    lost: LabError | None = None
    for each in checks:
        if lost:
            undecided = f"it was not made: {lost.what}"
            found[each.rule.id] = Result(each.rule, Verdict.UNDECIDED, undecided)
            continue
        step.update(each.rule.title)
        found[each.rule.id] = result = _result(each, tried, found)
        if result.verdict in _ILL:
            lost = _renewed(tried)
    return tuple(found.values()), lost


def _renewed(tried: OnTrial) -> LabError | None:
    """Let the next check have a plugin that is as new; return why that cannot be."""
    try:
        tried.renew()
    except LabError as problem:
        return problem
    return None


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
    except LabError as problem:
        # Before the first result there is no report that would be lost.
        if not before:
            raise
        return Result(rule, Verdict.UNDECIDED, problem.brief)
