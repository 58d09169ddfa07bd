"""The end of a run: its labs are taken down, and what there is to say is said."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import pytest

from lab.harness.pytest_plugin.session import EVIDENCE, LabSession

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_WELL: Final = frozenset({pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED})


# Compared by identity, for pytest keeps its plugins in sets.
@dataclass(eq=False)
class Conclusion:
    """Hooks of a run that is about to end; `evidence` has the folders of tests that failed."""

    labs: LabSession
    evidence: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember where evidence is: the process that tells of it is not that of the test."""
        if report.when == "teardown":
            self.evidence += (str(path) for key, path in report.user_properties if key == EVIDENCE)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Take down what was made, when workers and fixtures have ended."""
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
        """Say where evidence is, which labs were kept, and what could not be taken down."""
        lines = [*self._lines()]
        if lines:
            terminalreporter.write_sep("=", "gpu-lab")
            for line in lines:
                terminalreporter.write_line(line)

    def _lines(self) -> Generator[str, None, None]:
        for path in self.evidence:
            yield f"evidence: {path}"
        if self.evidence:
            yield f"  $ gpulab report {self.labs.settings.evidence}"
        for name in self.labs.kept:
            yield f"kept: the lab {name}; to look at it, and to remove it:"
            yield f"  $ gpulab status --name {name}"
            yield f"  $ gpulab down --name {name}"
        for failure in self.labs.failures:
            yield f"left behind: {failure}"
        for note in self.labs.notes:
            yield f"left behind by an earlier run: {note}"
