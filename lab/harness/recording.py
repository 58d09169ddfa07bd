"""Writes down what comes of a test: its result always, and its evidence where it fails."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from lab.core.clock import SystemClock
from lab.core.errors import CheckFailed, LabError, NotReady
from lab.core.language import Language
from lab.harness.evidence import Evidence, begun, collect
from lab.harness.evidence.folder import made_for, unwritable
from lab.harness.evidence.redaction import redacted_json, redacted_text
from lab.harness.lab import Lab
from lab.harness.results import Result, Verdict
from lab.harness.run import Run
from lab.harness.timeline import timeline_of

if TYPE_CHECKING:
    from pydantic import JsonValue

#: So many pods of a test are told of.
_MOST_TIMELINES: Final = 8
#: What is on disk while a test runs: it stays where the process is killed.
_UNFINISHED: Final = "It has begun, and nobody saw its end: the run ended before, or its process."


@dataclass
class Case:
    """A test of a run; `titles`, `section` and `seconds` are as in `Result`, whose last counts.

    Its methods write its result where it has no lab, or has none yet, in the place of that of an
    earlier run; they raise `NotReady` where it cannot be written.
    """

    run: Run
    test: str
    titles: Mapping[Language, str] = field(default_factory=dict)
    section: str = ""
    seconds: float = field(default=0.0, init=False)

    def begun(self) -> None:
        """Write that it has begun, which is a failure if nothing else is written afterwards."""
        self._write("failed", _UNFINISHED)

    def skipped(self, reason: str) -> None:
        """Write that it was skipped."""
        self._write("skipped", reason)

    def failed(self, report: str) -> None:
        """Write that it failed."""
        self._write("failed", report)

    @contextmanager
    def without_lab(self) -> Iterator[None]:
        """Write that it failed where the block, which gets it a lab, ends by an error."""
        try:
            yield
        except LabError as error:
            self.failed(str(error))
            raise

    def result(self, verdict: Verdict, report: str, secrets: Sequence[str] = ()) -> Result:
        """Return its result as far as that needs no lab; `secrets` are not to be in it."""
        return Result(
            run=self.run.name,
            test=self.test,
            verdict=verdict,
            started=SystemClock().moment(),
            seconds=0.0,
            titles=self.titles,
            section=self.section,
            backend="",
            kubernetes="",
            report=redacted_text(report, secrets),
            options=self.run.options,
        )

    def write(self, found: Result, kept: Evidence | None = None) -> None:
        """Write a result of it, beside the evidence that was kept of it."""
        self.seconds = found.seconds
        folder = kept.folder if kept else made_for(self.test, self.run.folder)
        try:
            found.write(folder)
        except OSError as error:
            raise unwritable(folder, error) from error

    def _write(self, verdict: Verdict, report: str) -> None:
        self.write(self.result(verdict, report))


@dataclass
class Recording:
    """The record of one test that has a lab: what is noted of its end first counts."""

    case: Case
    lab: Lab

    def __post_init__(self) -> None:
        self._started = self.lab.clock.moment()
        self._begun = self.lab.clock.now()
        #: Whether the test has no lab any more.
        self.is_over = False
        self._evidence: Evidence | None = None
        self._timelines: tuple[JsonValue, ...] = ()
        self._verdict: Verdict | None = None
        self._first: LabError | None = None
        self._report = ""

    @property
    def has_failed(self) -> bool:
        """Whether the test is known to have failed."""
        return self._verdict == "failed"

    @contextmanager
    def result(self) -> Iterator[None]:
        """Write the result when the block has ended, be it by an error, which is a failure then.

        Of several errors the first one is raised: what could not be undone after it is its note.
        """
        try:
            yield
        except BaseException as error:
            # Who ends the run says nothing of the test.
            if not isinstance(error, KeyboardInterrupt):
                self._fail(str(error))
            with _told_beside(error):
                self._write()
            if self._first and isinstance(error, CheckFailed) and error is not self._first:
                self._first.add_note(str(error))
                raise self._first from error
            raise
        else:
            self._write()
        finally:
            self.is_over = True

    @contextmanager
    def evidence(self) -> Iterator[None]:
        """Look at the test's pods when the block has ended, and keep all there is if it failed."""
        try:
            yield
        except BaseException as error:
            self._first = error if isinstance(error, LabError) else None
            with _told_beside(error):
                self.failed(str(error))
            raise
        finally:
            self.look()

    def passed(self) -> None:
        """Note that the test itself went through."""
        self._settle("passed", "")

    def skipped(self, reason: str) -> None:
        """Note that a test has gone no further than to see that it does not apply."""
        self._settle("skipped", reason)

    def failed(self, report: str, output: str = "") -> Evidence:
        """Keep all there is of a test that has failed; raises `NotReady` where that cannot be.

        `output` is what it has printed, and the programs that it started.
        """
        self._fail(report)
        case = self.case
        self._evidence = kept = begun(case.test, case.run.folder)
        collect(kept, self.lab, report, self._started, output)
        return kept

    def failed_afterwards(self, report: str) -> None:
        """Write the result again: what the test had beside its lab could not be put away."""
        self._fail(report)
        self._write()

    def look(self) -> None:
        """Note how the test's pods have come to their devices, as long as they are there.

        Where evidence was kept, that is known from there.
        """
        if self._evidence:
            self._timelines = tuple(self._evidence.timelines[:_MOST_TIMELINES])
            return
        running = self.lab.running
        pods = [pod for pod in self.lab.pods() if self.lab.serves(pod)][:_MOST_TIMELINES]
        self._timelines = tuple(
            timeline_of(running, pod.namespace, pod.name, self.lab.clock).as_json() for pod in pods
        )

    def _settle(self, verdict: Verdict, report: str) -> None:
        if self._verdict is None:
            self._verdict, self._report = verdict, report

    def _fail(self, report: str) -> None:
        """Note a failure: that of a test which went through counts as well, as of its cleaning."""
        if self._verdict == "passed":
            self._verdict = None
        self._settle("failed", report)

    def _write(self) -> None:
        # Nobody has seen the end of a test that pytest was told to leave.
        if self._verdict is None:
            self._verdict, self._report = "failed", _UNFINISHED
        secrets = (self.lab.running.folder.known_token(),)
        kept = self._evidence
        found = replace(
            self.case.result(self._verdict, self._report, secrets),
            started=self._started,
            seconds=round(self.lab.clock.now() - self._begun, 3),
            backend=self.lab.running.record.backend,
            kubernetes=self.lab.view.nodes.all()[0].version,
            timelines=tuple(redacted_json(each, secrets) for each in self._timelines),
            files=tuple(kept.files) if kept else (),
            missing=tuple(kept.missing) if kept else (),
        )
        self.case.write(found, kept)


@contextmanager
def _told_beside(error: BaseException) -> Iterator[None]:
    """Let what cannot be written be a note on the error of the test, which counts."""
    try:
        yield
    except NotReady as problem:
        error.add_note(str(problem))
