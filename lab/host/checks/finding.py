"""What a check found: the measured value beside the wanted one, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lab.core.errors import LabError, NotReady


class State(StrEnum):
    """How much a finding matters."""

    #: Nothing to do.
    OK = "ok"
    #: A lab may come up nevertheless.
    WARN = "warn"
    #: `gpulab up` surely fails.
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One line of `gpulab doctor`.

    `measured` and `wanted` are short texts for a table; `remedy` is one sentence, and `commands`
    are lines to paste.
    """

    name: str
    state: State
    measured: str
    wanted: str = ""
    remedy: str = ""
    commands: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, error: LabError, *, wanted: str = "") -> "Finding":
        """Return the finding that an error stands for, which would end `gpulab up`."""
        seen = error.seen.splitlines()
        measured = f"{error.what}: {seen[-1]}" if seen else error.what
        # What the error sends to, the reader has just done.
        commands = tuple(line for line in error.commands if line != "gpulab doctor")
        return cls(name, State.FAIL, measured, wanted, error.remedy, commands)


def failed(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings with which `gpulab up` surely fails."""
    return tuple(each for each in findings if each.state is State.FAIL)


def refuse(findings: Iterable[Finding], *, shown: bool = False) -> None:
    """Raise `NotReady` where a finding surely fails, with everything that is known about it.

    Where the findings are `shown` already, their names are enough.
    """
    bad = failed(findings)
    if not bad:
        return
    what = f"this machine is not ready: {', '.join(each.name for each in bad)}"
    if shown:
        raise NotReady(what)
    raise NotReady(
        what,
        seen="\n".join(_line(each) for each in bad),
        remedy="; ".join(each.remedy for each in bad if each.remedy),
        commands=tuple(command for each in bad for command in each.commands),
    )


def _line(finding: Finding) -> str:
    wanted = f" (wanted: {finding.wanted})" if finding.wanted else ""
    return f"{finding.name}: {finding.measured}{wanted}"
