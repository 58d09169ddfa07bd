"""Takes down the labs of a run at its end, and those of earlier runs that were killed."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lab.core.errors import LabError, TimedOut
from lab.harness.pytest_plugin.runs import RunFolder

#: A worker that is told to end has so many seconds for it.
_ENDING_SECONDS: Final = 60.0


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


def end_workers(run: RunFolder) -> list[str]:
    """Have workers end that have a lab still, and wait until they have; return who has not."""
    workers = run.pids()
    # Without workers it is this process that has a lab still: pytest lets go of it next.
    if not workers or are_free(run, 0):
        return []
    told = [pid for pid in workers if _is_told_to_end(pid)]
    return [] if are_free(run, _ENDING_SECONDS) else [str(_at_work_still(run, told))]


def are_free(run: RunFolder, within: float) -> bool:
    """Return whether nobody has a lab of a run any more, within so many seconds."""
    ends = time.monotonic() + within
    return all(_is_free(each, ends) for each in run.path.glob("*/lab-*.lock"))


def _is_told_to_end(pid: int) -> bool:
    """Tell a process to end; return whether it is there."""
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return False
    return True


def _at_work_still(run: RunFolder, pids: list[int]) -> TimedOut:
    processes = " ".join(map(str, pids))
    # All of them can have gone, and what one of them had started have the lab.
    end_them = (f"kill -KILL {processes}",) if pids else ()
    return TimedOut(
        f"workers of the run had a lab still {_ENDING_SECONDS:g} s after they were told to end",
        where=f"processes {processes}" if pids else "",
        remedy="end them if they are there still, and look whether a lab of the run is",
        commands=(*end_them, *(f"gpulab status --name {each}" for each in run.labs())),
    )


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
