"""HTTP within bounds: whatever is sent and by however many, the plugin stays as it is.

Eight calls at a time have a thread each; the others wait in the system's queue. A call has five
seconds from its first byte to its last, and half a minute to take its answer, whoever is slow. What
a call may be made of is limited before it is read.
"""

import io
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from fake_plugin import events
from fake_plugin.control.exchange import Answer, Request, answer
from fake_plugin.control.refusal import Refusal
from fake_plugin.errors import NotReady
from fake_plugin.log import say, say_crash

AT_ONCE: Final = 8
SECONDS: Final = 5.0
#: The metrics of 20 000 devices take seconds to write where there is little of a processor.
ANSWER_SECONDS: Final = 30.0
HEAD_BYTES: Final = 16 * 1024
BODY_BYTES: Final = 64 * 1024
_LOOK_SECONDS: Final = 0.2
_DISCARD_BYTES: Final = 64 * 1024
_TIMEOUT: Final = HTTPStatus.REQUEST_TIMEOUT

Answering: TypeAlias = Callable[[Request], Answer]


class ControlServer(ThreadingHTTPServer):
    """Answers on an address from `start` to `stop`.

    Raises `NotReady` where the address cannot be had. `seconds` is what a call may take, and
    `answer_seconds` its answer.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        address: str,
        answering: Answering,
        seconds: float = SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        host, _, port = address.rpartition(":")
        host = host.strip("[]")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.answering = answering
        self.seconds = seconds
        self.answer_seconds = answer_seconds
        self._places = threading.BoundedSemaphore(AT_ONCE)
        #: Until when each connection may be open.
        self._ends: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        self._stopping = False
        try:
            super().__init__((host, int(port)), _Handler)
        except OSError as problem:
            raise NotReady(
                "the address of --control cannot be listened on",
                where=address,
                seen=str(problem),
                remedy="give one that is free and this machine's own",
            ) from problem
        self._thread = threading.Thread(
            target=self.serve_forever, args=(_LOOK_SECONDS,), name="control", daemon=True
        )

    def start(self) -> None:
        """Answer in threads."""
        say(events.CONTROL_LISTENING, address=f"{self.server_name}:{self.server_port}")
        self._thread.start()

    def stop(self) -> None:
        """Close the port, and cut off the calls that are under way."""
        self._stopping = True
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self._end_all_before(float("inf"))
        self.server_close()

    def server_bind(self) -> None:
        """Bind, without asking a name server for the name of this machine."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - its shape
        """Answer one call in a thread of its own, as soon as there is a place."""
        while not self._places.acquire(timeout=_LOOK_SECONDS):
            self.service_actions()
            if self._stopping:
                self.shutdown_request(request)
                return
        with self._lock:
            self._ends[request] = time.monotonic() + self.seconds
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # The system gives no more threads just now.
            self._leave(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Answer one call, and give its place back."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._leave(request)

    def service_actions(self) -> None:
        """Cut off the calls that take too long."""
        self._end_all_before(time.monotonic())

    def heard(self, request: socket.socket) -> None:
        """Take down that a call was read to its end: what follows is the answer."""
        with self._lock:
            self._ends[request] = time.monotonic() + self.answer_seconds

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002
        """Say nothing of a caller that has gone, but a mistake of ours."""
        mistake = sys.exception()
        if mistake and not isinstance(mistake, OSError):
            say_crash(events.CONTROL_FAILED, mistake)

    def _leave(self, request: socket.socket) -> None:
        with self._lock:
            self._ends.pop(request, None)
        self._places.release()

    def _end_all_before(self, moment: float) -> None:
        with self._lock:
            for connection, end in self._ends.items():
                if end <= moment:
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    server: ControlServer
    server_version = "gpulab"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    #: Or an answer to what is no call at all would have no status.
    default_request_version = "HTTP/1.0"
    #: Between two bytes; the server cuts off what takes too long as a whole.
    timeout = SECONDS
    #: Bytes of the body that are still to be read, None where nobody knows.
    _unread: int | None = None

    def setup(self) -> None:
        super().setup()
        self.rfile = _Head(self.connection.makefile("rb", buffering=0))

    def do_GET(self) -> None:
        self.close_connection = True
        self._unread = self._announced()
        if self._unread == 0:
            self.server.heard(self.connection)
        found = self._answer()
        is_whole = isinstance(found.pieces, Sequence)
        # Or an answer that was cut off would look like one that has ended.
        chunked = not is_whole and self.request_version != "HTTP/1.0"
        headers = {"Content-Type": found.content_type, "Connection": "close", **found.headers}
        if isinstance(found.pieces, Sequence):
            headers["Content-Length"] = str(sum(map(len, found.pieces)))
        elif chunked:
            headers["Transfer-Encoding"] = "chunked"
        self.send_response(found.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._write(found.pieces, chunked=chunked)
        self._linger()

    # The names are those of http.server.
    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - see above

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not even a call, in the shape of the other errors."""
        del explain
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code = HTTPStatus.METHOD_NOT_ALLOWED
        status = HTTPStatus(code)
        found = _refused(Refusal(status, message or status.phrase, where="the request"))
        body = b"".join(found.pieces)
        self.send_response(code)
        self.send_header("Content-Type", found.content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True
        self._linger()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Log nothing: changes are logged where they are made."""

    def _write(self, pieces: Iterable[bytes], *, chunked: bool) -> None:
        for piece in filter(None, pieces):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _answer(self) -> Answer:
        try:
            return self.server.answering(self._request())
        except Refusal as refusal:
            return _refused(refusal)
        except Exception as mistake:  # noqa: BLE001 - one call must not end the plugin
            say_crash(events.CONTROL_FAILED, mistake)
            what = "a mistake in the plugin: its log has the details"
            return _refused(Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, what, where=self.path))

    def _request(self) -> Request:
        try:
            parts = urlsplit(self.path)
        except ValueError as problem:
            status = HTTPStatus.BAD_REQUEST
            raise Refusal(status, "the address is none", seen=str(problem)) from problem
        return Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            authorization=self.headers.get("Authorization", ""),
            token=self.headers.get("X-Gpulab-Token", ""),
            body=self._body,
        )

    def _announced(self) -> int | None:
        """Return how many bytes follow the head; None where that is not said as a number."""
        length = self.headers.get("Content-Length", "0")
        chunked = "Transfer-Encoding" in self.headers
        return int(length) if length.isdecimal() and len(length) < 20 and not chunked else None  # noqa: PLR2004 - digits of 2**64

    def _body(self) -> bytes:
        kind = self.headers.get_content_type()
        if kind != "application/json":
            raise Refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "the body has to be JSON",
                where="the header Content-Type",
                seen=kind,
                remedy="send Content-Type: application/json",
            )
        length = self._unread
        if length is None:
            raise Refusal(
                HTTPStatus.LENGTH_REQUIRED,
                "the length of the body has to be told",
                where="the header Content-Length",
                remedy="send it whole, and not in chunks",
            )
        if length > BODY_BYTES:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body must not have more than {BODY_BYTES} bytes",
                where="the header Content-Length",
                seen=str(length),
            )
        self._unread = 0
        try:
            data = self.rfile.read(length)
            self.server.heard(self.connection)
        except OSError as problem:
            seen = str(problem)
            raise Refusal(_TIMEOUT, "the body did not come in time", seen=seen) from problem
        if len(data) < length:
            seen = f"{len(data)} of {length} bytes"
            raise Refusal(HTTPStatus.BAD_REQUEST, "the body ended before its length", seen=seen)
        return data

    def _linger(self) -> None:
        """Take in what is still sent: a caller that is cut off while it sends sees no answer."""
        if self._unread == 0:
            return
        with suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(_DISCARD_BYTES):
                pass


class _Head(io.BufferedReader):
    """Reads lines until there were too many bytes of them; a body is read by its length."""

    _left = HEAD_BYTES

    def readline(self, size: int | None = -1) -> bytes:
        most = self._left if size is None or size < 0 else min(size, self._left)
        if most == 0:
            raise LineTooLong("head")
        found = super().readline(most)
        self._left -= len(found)
        return found


def _refused(refusal: Refusal) -> Answer:
    return answer(refusal.as_json(), refusal.status)
