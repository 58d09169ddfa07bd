"""What stops and starts a kubelet on its node, run here with programs of the tests' own."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from lab.cluster.access import CHECKPOINT
from lab.cluster.existing import keeper
from tests.unit.waiting import wait_until

TOKEN = "0123456789abcdef"  # noqa: S105 - of a lab that is none
#: An nsenter that keeps what it was asked, and fails where a file says so.
NSENTER = 'echo "$@" >>"$0.asked"; test ! -e "$0.fails" || { echo "no systemd" >&2; exit 1; }'


@pytest.fixture
def nsenter(put_on_path: Callable[[str, str], Path]) -> Path:
    """Return the program, which is the only one on the PATH."""
    return put_on_path("nsenter", NSENTER)


@pytest.fixture
def port() -> int:
    """Return a port that is free."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        free: int = held.getsockname()[1]
    return free


@pytest.fixture
def keeping(nsenter: Path, port: int) -> Iterator[Callable[[str, str], tuple[int, str]]]:
    """Run the file as the pod does; return what tells it something, with a token."""
    source = Path(keeper.__file__).read_text(encoding="utf-8")
    source = source.replace(f"PORT = {keeper.PORT}", f"PORT = {port}")
    env = {keeper.VARIABLE: TOKEN, "PATH": str(nsenter.parent) + os.pathsep + "/bin:/usr/bin"}
    child = subprocess.Popen((sys.executable, "-c", source), env=env, stderr=subprocess.DEVNULL)

    def tell(path: str, token: str) -> tuple[int, str]:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", path, headers={keeper.HEADER: token})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    wait_until("the keeper listens", lambda: _listens(port), 60)
    yield tell
    child.kill()
    child.wait()


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def asked(nsenter: Path) -> list[str]:
    """Return how nsenter was called."""
    file = nsenter.with_name("nsenter.asked")
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize(
    ("verb", "command"),
    [
        ("stop", "systemctl stop kubelet"),
        ("start", "systemctl start kubelet"),
        ("forget", f"rm {CHECKPOINT}"),
    ],
)
def test_it_does_what_it_is_told(
    keeping: Callable[[str, str], tuple[int, str]], nsenter: Path, verb: str, command: str
) -> None:
    """On the machine that it is on."""
    assert keeping(f"/{verb}", TOKEN) == (200, "")
    assert asked(nsenter) == [f"-t 1 -m -u -i -n -- {command}"]


@pytest.mark.parametrize(
    ("path", "token", "status"), [("/stop", "", 401), ("/stop", "x", 401), ("/mask", TOKEN, 404)]
)
def test_it_does_nothing_else_and_for_nobody_else(
    keeping: Callable[[str, str], tuple[int, str]],
    nsenter: Path,
    path: str,
    token: str,
    status: int,
) -> None:
    """Any pod of the cluster could ask."""
    assert keeping(path, token)[0] == status
    assert asked(nsenter) == []


def test_what_systemd_refuses_is_told(
    keeping: Callable[[str, str], tuple[int, str]], nsenter: Path
) -> None:
    """In its own words."""
    nsenter.with_name("nsenter.fails").touch()
    assert keeping("/stop", TOKEN) == (500, "no systemd\n")
