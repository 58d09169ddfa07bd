"""Commands in containers: what the API server says of their end, and what becomes of it."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest

from lab.cluster import reading, silence
from lab.cluster.client import Client, connect
from lab.cluster.connection import ApiFailed
from lab.cluster.silence import NodeSilent
from tests.unit.stand_ins.api_server import FakeApi, node, pod
from tests.unit.stand_ins.kind_program import write_kubeconfig

#: RFC 6455, 1.3.
ACCEPTS: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
GOODBYE: Final = b"\x88\x02\x03\xe8"
STDOUT, STDERR, ERROR = 1, 2, 3
POD: Final = reading.pod(pod("p", "t-lab-worker"))


def frame(channel: int, said: str) -> bytes:
    """Return a binary frame of a channel."""
    content = bytes([channel]) + said.encode()
    return b"\x82\x7e" + len(content).to_bytes(2, "big") + content


def status(**fields: object) -> bytes:
    """Return the frame that ends a command."""
    return frame(ERROR, json.dumps({"kind": "Status", **fields}))


@contextmanager
def container(
    said: bytes, folder: Path, *, stays: bool = False, begins: threading.Event | None = None
) -> Iterator[Client]:
    """Serve a container in which every command ends with these frames, unless it stays.

    It begins when `begins` is set, where that is given.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/api/v1/nodes/"):
                self._answer_with_node()
                return
            if begins:
                begins.wait(60)
            key = self.headers["Sec-WebSocket-Key"].encode()
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            accepts = base64.b64encode(hashlib.sha1(key + ACCEPTS, usedforsecurity=False).digest())
            self.send_header("Sec-WebSocket-Accept", accepts.decode())
            self.send_header("Sec-WebSocket-Protocol", "v5.channel.k8s.io")
            self.end_headers()
            self.wfile.write(said)
            if stays:
                self.rfile.read(1)
            self.close_connection = True

        def _answer_with_node(self) -> None:
            found = json.dumps(node("t-lab-worker")).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's
            """Keep the log out of the output of the tests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        write_kubeconfig(folder / "kubeconfig", f"http://127.0.0.1:{server.server_port}")
        yield connect(folder / "kubeconfig", "t-lab", "kind")
        server.shutdown()
        thread.join()


def test_all_that_a_command_prints_is_returned(tmp_path: Path) -> None:
    """In its order, with the code of a command that went well."""
    said = frame(STDOUT, "one\n") + frame(STDERR, "two\n") + status(status="Success") + GOODBYE
    with container(said, tmp_path) as client:
        assert client.execute(POD, ["true"]) == (0, "one\ntwo\n")


def test_the_code_of_a_command_is_returned(tmp_path: Path) -> None:
    """The server has it among the causes of a failure."""
    causes = {"causes": [{"reason": "ExitCode", "message": "3"}]}
    ended = status(status="Failure", reason="NonZeroExitCode", details=causes)
    with container(frame(STDERR, "no\n") + ended + GOODBYE, tmp_path) as client:
        assert client.execute(POD, ["false"]) == (3, "no\n")


def test_a_command_that_goes_on_has_no_code(tmp_path: Path) -> None:
    """What it has printed until then is returned."""
    with container(frame(STDOUT, "one\n"), tmp_path, stays=True) as client:
        assert client.execute(POD, ["sleep", "9"], seconds=0.1) == (-1, "one\n")


def test_a_command_that_does_not_begin_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server says nothing before the node does; what comes of it later is let go."""
    monkeypatch.setattr(silence, "SECONDS", 0.2)
    begins = threading.Event()
    gone = status(status="Success") + GOODBYE
    with container(gone, tmp_path, begins=begins) as client:
        with pytest.raises(NodeSilent) as raised:
            client.execute(POD, ["true"])
        assert raised.value.what == "the kubelet of node t-lab-worker does not answer"
        begins.set()
        assert client.execute(POD, ["true"]) == (0, "")


def test_a_program_that_is_not_there_is_told_in_the_servers_words(tmp_path: Path) -> None:
    """It has no code: no command has run."""
    words = 'error executing command in container: exec: "cat": executable file not found in $PATH'
    ended = status(
        status="Failure",
        reason="InternalError",
        code=500,
        message=words,
        details={"causes": [{"message": words}]},
    )
    with container(ended + GOODBYE, tmp_path) as client, pytest.raises(ApiFailed) as raised:
        client.execute(POD, ["cat"])
    assert raised.value.status == 500
    assert raised.value.render() == (
        "the command did not run to its end in the container\n"
        "  where: /api/v1/namespaces/kube-system/pods/p/exec\n"
        f"  seen:  {words}\n"
        "  next:  see whether the container runs, and has the program"
    )


def test_a_command_that_breaks_off_is_told(tmp_path: Path) -> None:
    """The server says goodbye, and nothing of the command's end."""
    with container(GOODBYE, tmp_path) as client, pytest.raises(ApiFailed) as raised:
        client.execute(POD, ["true"])
    assert raised.value.status == 0
    assert raised.value.seen == "the connection ended without a word of how it ended"


def test_a_stream_that_is_cut_is_told(tmp_path: Path) -> None:
    """In the middle of a frame, as by a proxy that is restarted."""
    with container(b"\x82\x7e", tmp_path) as client, pytest.raises(ApiFailed) as raised:
        client.execute(POD, ["true"])
    assert raised.value.what == "the cluster's API server does not answer"


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (400, "BadRequest", "container x is not valid for pod p"),
        (403, "Forbidden", 'pods "p" is forbidden: User "jane" cannot create pods/exec'),
    ],
)
def test_a_refused_command_has_the_servers_status_and_words(
    client: Client, api: FakeApi, code: int, reason: str, message: str
) -> None:
    """And is not taken for a server that does not answer."""
    api.refusal = (code, reason, message)
    with pytest.raises(ApiFailed) as raised:
        client.execute(POD, ["true"])
    assert raised.value.status == code
    assert raised.value.what.startswith(f"the cluster's API server refused ({code} ")
    assert raised.value.seen == message


def test_a_command_without_a_server_is_told_plainly(tmp_path: Path) -> None:
    """As every other request."""
    write_kubeconfig(tmp_path / "kubeconfig", "http://127.0.0.1:1")
    with pytest.raises(ApiFailed) as raised:
        connect(tmp_path / "kubeconfig", "t-lab", "kind").execute(POD, ["true"])
    assert (raised.value.status, raised.value.seen) == (0, "Connection refused")
