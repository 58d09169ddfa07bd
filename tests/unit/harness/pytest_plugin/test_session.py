"""What one process of a run knows, and does at its end."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from lab.harness.pytest_plugin import ending
from lab.harness.pytest_plugin.options import Settings
from lab.harness.pytest_plugin.session import LabSession

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return how long somebody was ready to wait for labs, each time that nobody let go of one."""
    seconds: list[float] = []

    def are_free(_: object, within: float) -> bool:
        seconds.append(within)
        return False

    monkeypatch.setattr(ending, "are_free", are_free)
    return seconds


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LabSession]:
    """Return the main process of a run of which somebody has a lab."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path))
    settings = Settings("kind", None, None, (), None, None, None, 1, "never", tmp_path)
    session = LabSession(settings, "pytest-1-ab", is_main=True)
    session.folder.make()
    with FileLock(session.folder.group("own") / "lab-0.lock"):
        yield session


def test_workers_that_end_are_not_told_of(
    session: LabSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their labs are free by then."""
    monkeypatch.setattr(ending, "are_free", lambda _, within: bool(within))
    with subprocess.Popen(SLEEP) as worker:
        (session.folder.path / "gw0.pid").write_text(str(worker.pid))
        session.end_workers()
    assert session.failures == []


def test_a_run_without_workers_waits_for_nobody(session: LabSession, waited: list[float]) -> None:
    """The lab is this process's own: after Ctrl-C it would wait for itself."""
    session.end_workers()
    assert waited == []


def test_workers_that_have_a_lab_are_ended_and_waited_for(
    session: LabSession, waited: list[float]
) -> None:
    """A lab that is taken down under a worker would be made again by it."""
    with subprocess.Popen(SLEEP) as worker:
        (session.folder.path / "gw0.pid").write_text(str(worker.pid))
        session.end_workers()
        assert worker.wait(60) == -15
    assert waited == [0, 60]


def test_workers_that_do_not_end_are_told_of(session: LabSession, waited: list[float]) -> None:
    """With how to end them, and what to look for: the labs are taken down under them."""
    (session.folder.group("own") / "lab-0.json").touch()
    with subprocess.Popen(SLEEP) as worker:
        (session.folder.path / "gw0.pid").write_text(str(worker.pid))
        session.end_workers()
    assert len(waited) == 2
    (told,) = session.failures
    assert told == (
        "workers of the run had a lab still 60 s after they were told to end\n"
        f"  where: processes {worker.pid}\n"
        "  next:  end them if they are there still, and look whether a lab of the run is\n"
        f"         $ kill -KILL {worker.pid}\n"
        "         $ gpulab status --name pytest-1-ab-own-0"
    )


def test_workers_that_have_gone_are_not_to_be_ended(
    session: LabSession, waited: list[float]
) -> None:
    """Another process has their number before long; the lab is somebody's all the same."""
    with subprocess.Popen((sys.executable, "-c", "")) as worker:
        (session.folder.path / "gw0.pid").write_text(str(worker.pid))
    session.end_workers()
    assert waited == [0, 60]
    (told,) = session.failures
    assert "60 s after they were told to end\n  next:  end them if" in told
    assert "kill" not in told
