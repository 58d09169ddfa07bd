"""What comes of a test that wants a lab, as pytest sees it."""

import traceback
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final

import pytest

import lab
from lab.core.errors import LabError
from lab.harness.pytest_plugin.again import again
from lab.harness.pytest_plugin.session import EVIDENCE, PROPERTY, SESSION
from lab.harness.pytest_plugin.tested import RECORDING, case_of
from lab.harness.pytest_plugin.wishes import wish_of
from lab.harness.recording import Recording

_SECTION = "gpu-lab"
_LAB: Final = Path(lab.__file__).parent


def begin(item: pytest.Item) -> None:
    """Write that a test has begun: what an earlier run has left of it says nothing of this one."""
    _forget_attempt(item)
    try:
        case_of(item).begun()
    except LabError as error:
        pytest.fail(str(error), pytrace=False)


def require_end(item: pytest.Item) -> None:
    """End the run where a test still has its lab: the next one would get that, as it is.

    A fixture that ends by SystemExit keeps pytest from ending those that come after it.
    """
    recording = item.stash.get(RECORDING, None)
    if recording and not recording.is_over and not item.session.shouldstop:
        item.session.shouldstop = (
            f"{item.nodeid} has not given its lab back: a fixture broke off what comes at its end"
        )


def _forget_attempt(item: pytest.Item) -> None:
    """Let go of what an attempt before this one has left, where a plugin runs tests again."""
    if RECORDING in item.stash:
        del item.stash[RECORDING]
    item.user_properties[:] = (
        (name, value) for name, value in item.user_properties if not name.startswith(PROPERTY)
    )


def shorten(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Leave the lab's own lines out of errors that it tells, but with `--full-trace`."""
    found = call.excinfo
    if found is None or item.config.option.fulltrace:
        return
    for error in filter(_is_told, _chain(found.value)):
        error.__traceback__ = _shortened(error.__traceback__)
    if _is_told(found.value):
        call.excinfo = pytest.ExceptionInfo.from_exception(found.value)


def _is_told(error: BaseException) -> bool:
    return isinstance(error, LabError)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and those that came before it, which pytest shows as well."""
    # An undoing that fails may make a ring of them.
    seen: list[BaseException] = []
    earlier: BaseException | None = error
    while earlier and earlier not in seen:
        yield earlier
        seen.append(earlier)
        earlier = earlier.__cause__ or earlier.__context__


def _shortened(whole: TracebackType | None) -> TracebackType | None:
    shown = None
    for frame, line in reversed([*traceback.walk_tb(whole)]):
        if not _is_labs(Path(frame.f_code.co_filename)):
            shown = TracebackType(shown, frame, frame.f_lasti, line)
    return shown


def _is_labs(file: Path) -> bool:
    return file.is_relative_to(_LAB) or file.name == "contextlib.py"


def judge(item: pytest.Item, report: pytest.TestReport) -> None:
    """Note what a phase of a test has come to, and keep the evidence of a failure."""
    recording = item.stash.get(RECORDING, None)
    try:
        if recording is None:
            _judge_without_lab(item, report)
        else:
            _judge(recording, item, report)
    except LabError as error:
        report.sections.append((_SECTION, str(error)))
    except KeyboardInterrupt as ended:
        # Nobody is shown a report that is not made.
        item.config.stash[SESSION].broken_off += getattr(ended, "__notes__", ())
        raise


def _judge_without_lab(item: pytest.Item, report: pytest.TestReport) -> None:
    if report.skipped:
        case_of(item).skipped(_reason(report))
    elif report.failed:
        case_of(item).failed(report.longreprtext)


def _judge(recording: Recording, item: pytest.Item, report: pytest.TestReport) -> None:
    if report.skipped:
        recording.skipped(_reason(report))
    elif report.failed and report.when == "teardown":
        if not recording.has_failed:
            recording.failed_afterwards(report.longreprtext)
    elif report.failed:
        printed = "\n".join(f"{title}\n{text}" for title, text in report.sections)
        kept = recording.failed(report.longreprtext, printed)
        item.user_properties.append((EVIDENCE, str(kept.folder)))
        report.sections.append((_SECTION, f"evidence: {kept.folder}\n{_how_to_look(item)}"))
    elif report.when == "call":
        recording.passed()


def _how_to_look(item: pytest.Item) -> str:
    """Return the command that runs a test again, and where its lab goes, how to keep that."""
    command, settings = again(wish_of(item).test, item.config), item.config.stash[SESSION].settings
    if settings.use or settings.keep != "never":
        return f"  $ {command}"
    kept = "its lab goes with the run; to look at it as the test leaves it"
    return f"  $ {command}\n{kept}:\n  $ {command} -x --lab-keep=failed"


def _reason(report: pytest.TestReport) -> str:
    """Return why a test was skipped, or was expected to fail, as it did."""
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}".rstrip(": ")
    # Of a skip, pytest has the file, the line and the reason.
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    return reason.removeprefix("Skipped: ")
