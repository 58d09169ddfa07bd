"""A program on Linux, and what it has started, wherever that has gone."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from lab.conformance.keeper import PASS_ON, kept
from tests.unit.stand_ins.held_pipe import Hear, hearing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="this is of Linux alone")

#: Who holds the pipe lives; one is of a session of its own, and the parent of the other has ended.
STRAYS: Final = """
trap 'echo asked >&3; exit 9' TERM
exec 3> "$1"
setsid sleep 60 &
(setsid sh -c 'sleep 60 & sleep 60 & exit' &)
echo started >&3
"""
WAITS: Final = STRAYS + "sleep 60 & wait"


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return the pipe that the program and its children hold."""
    return tmp_path / "pipe"


@pytest.fixture
def hear(pipe: Path) -> Iterator[Hear]:
    """Return what waits for the next words in the pipe; none when all who held it have ended."""
    with hearing(pipe, 60) as hear:
        yield hear


def keeping(script: str, pipe: Path) -> "subprocess.Popen[bytes]":
    """Start a script that is kept."""
    return subprocess.Popen(kept(["sh", "-c", script, "sh", str(pipe)]))


def test_what_has_gone_away_ends_with_the_program(pipe: Path, hear: Hear) -> None:
    """As a container is over when its first process is."""
    with keeping(STRAYS + "exit 7", pipe) as child:
        assert hear() == b"started\n"
        assert hear() == b""
        assert child.wait() == 7


def test_a_program_is_killed_with_all_that_it_has_started(pipe: Path, hear: Hear) -> None:
    """It is not asked first."""
    with keeping(WAITS, pipe) as child:
        assert hear() == b"started\n"
        child.terminate()
        assert hear() == b""
        assert child.wait() == -signal.SIGKILL


def test_a_program_can_be_asked_to_end(pipe: Path, hear: Hear) -> None:
    """And it alone is."""
    with keeping(WAITS, pipe) as child:
        assert hear() == b"started\n"
        child.send_signal(PASS_ON)
        assert hear() == b"asked\n"
        assert hear() == b""
        assert child.wait() == 9


def test_a_program_ends_with_who_has_started_it(pipe: Path, hear: Hear) -> None:
    """Also where that was killed, and could end nobody."""
    command = kept(["sh", "-c", WAITS, "sh", str(pipe)])
    starts = f"import subprocess; subprocess.Popen({command!r}).wait()"
    with subprocess.Popen([sys.executable, "-c", starts]) as starter:
        assert hear() == b"started\n"
        starter.kill()
        assert hear() == b""


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 0", 0),
        ("exit 3", 3),
        ("kill -KILL $$", -signal.SIGKILL),
        ("kill -SEGV $$", -signal.SIGSEGV),
        ("kill -40 $$", -40),
        # Python ignores this one, and its children would.
        ("kill -PIPE $$", -signal.SIGPIPE),
    ],
)
def test_the_end_is_that_of_the_program(script: str, code: int) -> None:
    """Whoever waits for the one learns of the other."""
    assert subprocess.run(kept(["sh", "-c", script]), check=False).returncode == code


def test_a_file_that_is_no_program_is_told(tmp_path: Path) -> None:
    """In the words of the system."""
    file = tmp_path / "text"
    file.write_text("no program")
    file.chmod(0o755)
    ended = subprocess.run(kept([str(file)]), stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (126, f"{file}: Exec format error\n")
