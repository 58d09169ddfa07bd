"""The end of a run: its labs are taken down, and what there is to say is said."""

import shlex
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from lab.harness.pytest_plugin.again import again
from lab.harness.pytest_plugin.forks import end
from lab.harness.pytest_plugin.session import EVIDENCE, LAB, LabSession

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_WELL: Final = frozenset({pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})


# Compared by identity, for pytest keeps its plugins in sets.
@dataclass(eq=False)
class Conclusion:
    """Hooks of a run that is about to end; `failed` has the tests that failed, with evidence of it.

    That is the path of a folder, or "" where none could be kept.
    """

    labs: LabSession
    failed: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember what failed: the process that tells of it is not that of the test."""
        known = dict(report.user_properties)
        if LAB in known and (report.failed or EVIDENCE in known):
            self.failed[_test(report.nodeid)] = str(known.get(EVIDENCE, ""))

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Take down what was made, when workers and fixtures have ended."""
        if self.labs.is_forked:
            end("forked by a test")
        try:
            if self.labs.has_begun:
                self.labs.end_workers()
            yield
        finally:
            if self.labs.has_begun:
                self.labs.end(failed=bool(session.testsfailed))
                if self.labs.failures and session.exitstatus in _WELL:
                    session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self) -> None:
        """Let signals do what they did before."""
        self.labs.interruptions.ignore_again()

    def pytest_terminal_summary(self, terminalreporter: "TerminalReporter") -> None:
        """Say where evidence is, and is not whole, and what became of labs."""
        lines = [*self._of_failed(terminalreporter.config), *self._lines()]
        if lines:
            terminalreporter.write_sep("=", "gpu-lab")
            for line in lines:
                terminalreporter.write_line(line)

    def _of_failed(self, config: pytest.Config) -> Generator[str, None, None]:
        for test, evidence in self.failed.items():
            yield f"evidence: {evidence or 'none'}"
            yield f"  $ {again(test, config)}"
        if any(self.failed.values()):
            yield "all of it on one page:"
            yield f"  $ gpulab report {shlex.quote(str(self.labs.settings.evidence))}"

    def _lines(self) -> Generator[str, None, None]:
        yield from self.labs.broken_off
        for name in self.labs.kept:
            yield f"kept: the lab {name}; to look at it, and to remove it:"
            yield f"  $ gpulab status --name {name}"
            yield f"  $ gpulab down --name {name}"
        for failure in self.labs.failures:
            yield f"left behind: {failure}"
        for note in self.labs.notes:
            yield f"left behind by an earlier run: {note}"


def _test(nodeid: str) -> str:
    """Return the ID of a test without the group that pytest-xdist adds to it."""
    test, _, group = nodeid.rpartition("@")
    return test if "::" in test and "]" not in group else nodeid
