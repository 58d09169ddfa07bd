"""Takes down the labs of a run at its end, and those of earlier runs that were killed."""

import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from lab.core.errors import LabError
from lab.harness.pytest_plugin.runs import RunFolder


def end_run(run: RunFolder, *, keep: bool) -> tuple[list[str], list[str]]:
    """Take down the labs of a run, unless they are kept, and remove the run's files.

    Return the names of labs that were kept, and what could not be taken down, in words. With that
    the files stay, by which the next run tries again.
    """
    labs = [*run.labs()]
    if keep:
        run.remove()
        return labs, []
    failures = [*_taken_down(labs)]
    if not failures:
        failures += _removed(run)
    return [], failures


def take_down_dead_runs(run: RunFolder) -> list[str]:
    """Take down the labs of other runs whose main process has gone; return what remains of them."""
    failures = []
    for other in run.others():
        if other.is_dead():
            _, failed = end_run(other, keep=False)
            failures += failed
    return failures


def are_free(run: RunFolder, within: float) -> bool:
    """Return whether nobody has a lab of a run any more, within so many seconds."""
    ends = time.monotonic() + within
    return all(_is_free(each, ends) for each in run.path.glob("*/lab-*.lock"))


def _is_free(lock: Path, ends: float) -> bool:
    try:
        with FileLock(lock, timeout=max(0.0, ends - time.monotonic())):
            return True
    except Timeout:
        return False


def _taken_down(labs: list[str]) -> Iterator[str]:
    if not labs:
        return
    from lab.harness.makers import logged_site, remove  # noqa: PLC0415 - loads the client library

    for name in labs:
        try:
            remove(name, logged_site())
        except LabError as error:
            yield str(error)


def _removed(run: RunFolder) -> Iterator[str]:
    try:
        run.remove()
    except LabError as error:
        yield str(error)
