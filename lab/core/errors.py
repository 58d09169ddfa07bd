"""The one tree of errors that users see.

    Told                          what failed, where, what was last seen, what to do next
    ├── LabError                  a failure
    │   ├── CheckFailed           exit 1   something is not as it should be
    │   │   ├── CleanUpFailed              something of the lab is left behind
    │   │   ├── ProcessFailed              a child exited with not 0 (lab.host.processes)
    │   │   ├── ApiFailed                  the API refused, or is away (lab.cluster.connection)
    │   │   │   ├── ServerSilent           it took a request, said nothing (lab.cluster.connection)
    │   │   │   └── NodeSilent             a node behind it says nothing (lab.cluster.silence)
    │   │   ├── RecordDamaged              a lab's record cannot be read (lab.cluster.record)
    │   │   └── ExpectationFailed          what a test expects is not so (lab.harness.failure)
    │   ├── UsageError            exit 2   the command line or a file of the user is wrong
    │   │   ├── FleetError                 a fleet file is wrong (lab.core.fleet.findings)
    │   │   ├── NoPlace                    a fleet does not fit on a lab (lab.install.backend)
    │   │   ├── PluginRefused              a plugin does not do it (lab.cluster.plugin.api)
    │   │   └── GiveOne                    of some words one is needed (lab.cluster.plugin.words)
    │   ├── NotReady              exit 3   this machine, or what is on it, does not allow it
    │   │   ├── NoLab                      there is no lab of the name (lab.install.status)
    │   │   ├── NotOffered                 a backend has no way to that (lab.cluster.access)
    │   │   └── SetupFailedBefore          no lab for an earlier test either (lab.harness.leasing)
    │   └── TimedOut              exit 4   a wait ended without what was waited for
    └── Interrupted               exit 130 Ctrl-C or SIGTERM: a KeyboardInterrupt

Raised where the facts are known, rendered once, in `lab.cli.main`. They live apart from what
raises them to keep the imports one-way; an error with a module behind it lives there, because
it carries values of that module.
"""

from typing import ClassVar

from lab.core.exit_codes import ExitCode


class Told(BaseException):
    """What has ended a command, with everything a user needs to act on it.

    `what` is one sentence; `where` a file, command or object; `seen` the last observation, often
    the words of another program; `remedy` one sentence; `commands` are lines to paste.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.CHECK_FAILED

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        seen: str = "",
        remedy: str = "",
        commands: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.seen = seen
        self.remedy = remedy
        self.commands = commands

    def __str__(self) -> str:
        return self.render()

    @property
    def brief(self) -> str:
        """What failed and what was last seen, where there is room for no more."""
        return ": ".join(filter(None, (self.what, self.seen)))

    def render(self) -> str:
        """Return the text for a terminal: one labelled line per fact, commands last.

        Notes on it follow, as of what else has gone wrong since.
        """
        lines = [self.what]
        for label, text in (("where", self.where), ("seen", self.seen), ("next", self.remedy)):
            if text:
                first, *rest = text.rstrip().splitlines()
                lines.append(f"  {label + ':':<7}{first}")
                lines.extend(f"         {line}" for line in rest)
        lines.extend(f"         $ {command}" for command in self.commands)
        lines.extend(getattr(self, "__notes__", ()))
        return "\n".join(lines)


class LabError(Told, Exception):
    """A failure."""


class CheckFailed(LabError):
    """Something is not as it should be."""


class CleanUpFailed(CheckFailed):
    """Something of the lab is left behind; the text says what and how to remove it."""


class UsageError(LabError):
    """The command line or a file of the user is wrong."""

    exit_code = ExitCode.USAGE


class NotReady(LabError):
    """This machine lacks something that the lab needs, or what is on it is in the way.

    The latter: there is no such lab, another command has it, or the cluster of that
    name is someone else's.
    """

    exit_code = ExitCode.NOT_READY


class TimedOut(LabError):
    """A wait ended without what was waited for."""

    exit_code = ExitCode.TIMED_OUT


class Interrupted(Told, KeyboardInterrupt):
    """The user, or the system, asked for an end.

    It passes by `except LabError`: who asks for an end gets it, whatever could be made up for.
    """

    exit_code = ExitCode.INTERRUPTED
