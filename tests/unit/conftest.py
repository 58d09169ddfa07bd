"""Stand-ins for what surrounds the lab: the programs on the PATH, and a progress that is kept."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings

from lab.core.progress import Progress, Step
from tests.unit.stand_ins.engine import DOCKER, EMPTY, FakeEngine

# How long an example takes is the machine's affair, and no property of the code.
settings.register_profile("gpu-lab", deadline=None)
settings.load_profile("gpu-lab")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder for sockets; pytest's own may have too long a path."""
    path = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def put_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Empty the PATH, and return what puts a shell script on it as a program of that name."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, script: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return program

    return put


@pytest.fixture
def engine(
    put_on_path: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> FakeEngine:
    """Return an engine without containers, behind a `docker` on the PATH."""
    file = tmp_path / "engine.json"
    file.write_text(json.dumps(EMPTY))
    monkeypatch.setenv("FAKE_ENGINE", str(file))
    put_on_path("docker", DOCKER)
    return FakeEngine(file, tmp_path / "state")


@pytest.fixture
def said() -> list[str]:
    """Return what `progress` was told: notes, titles of steps, and how those ended."""
    return []


@pytest.fixture
def progress(said: list[str]) -> Progress:
    """Return a progress that keeps in `said` what it is told."""
    return _Kept(said)


class _Kept:
    def __init__(self, said: list[str]) -> None:
        self._said = said

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        try:
            yield _KeptStep()
        except BaseException:
            self._said.append(f"failed: {title}")
            raise
        self._said.append(f"done: {title}")

    def note(self, text: str) -> None:
        self._said.append(text)


class _KeptStep:
    def update(self, detail: str) -> None:
        """Leave out what comes and goes."""

    def cached(self) -> None:
        """Leave out how a step was done."""
