"""A plugin counts as listening when it answers as a gRPC server does."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lab.embedded.kubelet.dial import answers_in_time
from tests.unit.embedded.conftest import StartPlugin
from tests.unit.waiting import wait_until

SETTINGS = b"\0\0\6\4\0\0\0\0\0" + b"\0\3\0\0\0\7"


@pytest.fixture
def over() -> threading.Event:
    """Return what ends the dialling."""
    return threading.Event()


class Answering:
    """A server that answers every greeting with the same bytes, and closes where it has none."""

    def __init__(self, path: Path, answer: bytes | None) -> None:
        self.connections: list[socket.socket] = []
        self._answer = answer
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(str(path))
        self._server.listen()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.connections.append(connection)
            if self._answer is None:
                connection.close()
            # Who was told enough has gone.
            with suppress(BrokenPipeError):
                for byte in self._answer or b"":
                    connection.sendall(bytes([byte]))

    def stop(self) -> None:
        """Close everything."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for each in (self._server, *self.connections):
            each.close()


@pytest.fixture
def path(folder: Path) -> Path:
    """Return the path of a socket that is not there yet."""
    return folder / "server.sock"


@pytest.fixture
def server(path: Path, request: pytest.FixtureRequest) -> Iterator[Answering]:
    """Return a server that gives the answer of the parameter."""
    server = Answering(path, request.param)
    yield server
    server.stop()


def test_a_server_of_grpc_answers(
    start_plugin: StartPlugin, folder: Path, over: threading.Event
) -> None:
    """At once."""
    start_plugin()
    assert answers_in_time(folder / "plugin.sock", over)


@pytest.mark.parametrize("server", [SETTINGS], indirect=True)
@pytest.mark.usefixtures("server")
def test_an_answer_may_come_byte_by_byte(path: Path, over: threading.Event) -> None:
    """It is read to the end of the first header."""
    assert answers_in_time(path, over)


@pytest.mark.parametrize(
    "server",
    [
        pytest.param(b"", id="silent"),
        pytest.param(None, id="closes"),
        pytest.param(b"HTTP/1.1 400 Bad Request", id="another protocol"),
        pytest.param(SETTINGS[:8], id="stops within"),
    ],
    indirect=True,
)
def test_what_answers_otherwise_is_no_plugin(
    path: Path, server: Answering, over: threading.Event
) -> None:
    """It is tried until the time is over."""
    ends = threading.Thread(target=lambda: _end_after_a_try(server, over))
    ends.start()
    assert not answers_in_time(path, over)
    ends.join()


def _end_after_a_try(server: Answering, over: threading.Event) -> None:
    wait_until("a try", lambda: bool(server.connections))
    over.set()


def test_a_path_too_long_for_a_socket_is_no_plugin(folder: Path, over: threading.Event) -> None:
    """The system refuses it, each time."""
    threading.Timer(0.1, over.set).start()
    assert not answers_in_time(folder / ("x" * 200), over)
