"""Writes down what comes of a test: its result always, and its evidence where it fails."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lab.core.clock import SystemClock
from lab.core.language import Language
from lab.harness.evidence import Evidence, collect
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


@dataclass
class Recording:
    """The record of one test of a run; `titles` and `section` are as in `Result`."""

    run: Run
    lab: Lab
    test: str
    titles: Mapping[Language, str] = field(default_factory=dict)
    section: str = ""

    def __post_init__(self) -> None:
        self._started = self.lab.clock.moment()
        self._begun = self.lab.clock.now()
        self._evidence: Evidence | None = None
        self._timelines: tuple[JsonValue, ...] = ()
        self._verdict: Verdict = "passed"
        self._report = ""

    @property
    def has_failed(self) -> bool:
        """Whether the test is known to have failed."""
        return self._verdict == "failed"

    @contextmanager
    def result(self) -> Iterator[None]:
        """Write the result when the block has ended, be it by an error."""
        try:
            yield
        except BaseException as error:
            self._settle("failed", str(error))
            self._write()
            raise
        self._write()

    @contextmanager
    def evidence(self) -> Iterator[None]:
        """Look at the test's pods when the block has ended, and keep all there is if it failed."""
        try:
            yield
        except BaseException as error:
            self.failed(str(error))
            raise
        finally:
            self.look()

    def failed(self, report: str) -> Evidence:
        """Keep all there is of a test that has failed; raises `NotReady` where that cannot be."""
        self._settle("failed", report)
        self._evidence = collect(self.lab, self.test, report, self._started, self.run.folder)
        return self._evidence

    def skipped(self, reason: str) -> None:
        """Note that a test has gone no further than to see that it does not apply."""
        self._settle("skipped", reason)

    def look(self) -> None:
        """Note how the test's pods have come to their devices, as long as they are there."""
        running = self.lab.running
        pods = [pod for pod in self.lab.pods() if self.lab.serves(pod)][:_MOST_TIMELINES]
        self._timelines = tuple(
            timeline_of(running, pod.namespace, pod.name, self.lab.clock).as_json() for pod in pods
        )

    def _settle(self, verdict: Verdict, report: str) -> None:
        """Note what the result is; what was noted first counts."""
        if self._verdict == "passed":
            self._verdict, self._report = verdict, report

    def _write(self) -> None:
        secrets = (self.lab.running.folder.known_token(),)
        kept = self._evidence
        folder = kept.folder if kept else made_for(self.test, self.run.folder)
        found = Result(
            run=self.run.name,
            test=self.test,
            verdict=self._verdict,
            started=self._started,
            seconds=round(self.lab.clock.now() - self._begun, 3),
            titles=self.titles,
            section=self.section,
            backend=self.lab.running.record.backend,
            kubernetes=self.lab.view.nodes.all()[0].version,
            report=redacted_text(self._report, secrets),
            timelines=tuple(redacted_json(each, secrets) for each in self._timelines),
            files=kept.files if kept else (),
            missing=kept.missing if kept else (),
            options=self.run.options,
        )
        _write(found, folder)


def write_skipped(
    run: Run,
    test: str,
    reason: str,
    *,
    titles: Mapping[Language, str] | None = None,
    section: str = "",
) -> None:
    """Write the result of a test that has had no lab, in the place of one of an earlier run.

    Raises `NotReady` where it cannot be written.
    """
    found = Result(
        run=run.name,
        test=test,
        verdict="skipped",
        started=SystemClock().moment(),
        seconds=0.0,
        titles=titles or {},
        section=section,
        backend="",
        kubernetes="",
        report=reason,
        options=run.options,
    )
    _write(found, made_for(test, run.folder))


def _write(found: Result, folder: Path) -> None:
    try:
        found.write(folder)
    except OSError as error:
        raise unwritable(folder, error) from error
