"""One call over HTTP: what it may be made of is limited before it is read."""

import io
import socket
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from http import HTTPStatus
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler
from typing import Final, Protocol, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from fake_plugin import events
from fake_plugin.control.exchange import Answer, Request, answer
from fake_plugin.control.refusal import Refusal
from fake_plugin.log import say_crash
from fake_plugin.shortening import cut

HEAD_BYTES: Final = 16 * 1024
BODY_BYTES: Final = 64 * 1024
#: Between two bytes; the server cuts off what takes too long as a whole.
BYTE_SECONDS: Final = 5.0
_DISCARD_BYTES: Final = 64 * 1024
_TIMEOUT: Final = HTTPStatus.REQUEST_TIMEOUT
_TOO_MANY: Final = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "too many are reading metrics at the moment",
    where="the request",
    remedy="call again when one of them has ended",
)

Answering: TypeAlias = Callable[[Request], Answer]


class Server(Protocol):
    """What a handler needs of the server that it is made by."""

    answering: Answering

    def heard(self, request: socket.socket) -> None:
        """Take down that a call was read to its end."""

    def answering_long(self) -> AbstractContextManager[bool]:
        """Tell whether there is room for one more long answer, and keep it for the block."""

    def seeing_off(self, request: socket.socket) -> AbstractContextManager[bool]:
        """Give a call's place back; tell whether there is room to wait for its end in the block."""


class Handler(BaseHTTPRequestHandler):
    """Reads one call from a connection, and writes its answer."""

    server: Server  # type: ignore[assignment]  # it is made by no other
    server_version = "gpulab"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    #: Or an answer to what is no call at all would have no status.
    default_request_version = "HTTP/1.0"
    timeout = BYTE_SECONDS
    #: Bytes of the body that are still to be read, None where nobody knows.
    _unread: int | None = None

    def setup(self) -> None:
        """Have the head read within its limit."""
        super().setup()
        self.rfile = _Head(self.connection.makefile("rb", buffering=0))

    def do_GET(self) -> None:
        """Answer the call, and close the connection."""
        self.close_connection = True
        self._unread = self._announced()
        if self._unread == 0:
            self.server.heard(self.connection)
        found = self._answer()
        try:
            self._reply_in_turn(found)
        finally:
            found.afterwards()
        self._linger()

    # The names are those of http.server.
    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - see above

    def _reply_in_turn(self, found: Answer) -> None:
        if isinstance(found.pieces, Sequence):
            self._reply(found)
            return
        with self.server.answering_long() as room:
            self._reply(found if room else _refused(_TOO_MANY))

    def _reply(self, found: Answer) -> None:
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

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is not even a call, in the shape of the other errors."""
        del explain
        if code == HTTPStatus.NOT_IMPLEMENTED:
            code = HTTPStatus.METHOD_NOT_ALLOWED
        status = HTTPStatus(code)
        what = cut(message or status.phrase)
        found = _refused(Refusal(status, what, where="the request"))
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
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            return _refused(Refusal(status, what, where=cut(self.path)))

    def _request(self) -> Request:
        try:
            parts = urlsplit(self.path)
        except ValueError as problem:
            status = HTTPStatus.BAD_REQUEST
            raise Refusal(status, "the address is none", seen=cut(str(problem))) from problem
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
        length = self._length()
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

    def _length(self) -> int:
        """Return how long the body is; raises `Refusal` for one that is not to be read."""
        kind = self.headers.get_content_type()
        if kind != "application/json":
            raise Refusal(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "the body has to be JSON",
                where="the header Content-Type",
                seen=cut(kind),
                remedy="send Content-Type: application/json",
            )
        if self._unread is None:
            raise Refusal(
                HTTPStatus.LENGTH_REQUIRED,
                "the length of the body has to be told",
                where="the header Content-Length",
                remedy="send it whole, and not in chunks",
            )
        if self._unread > BODY_BYTES:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"too much is asked at once: {BODY_BYTES} bytes are the most",
                where="the header Content-Length",
                seen=f"{self._unread} bytes",
                remedy="name fewer devices at a time, or all; nothing was changed",
            )
        return self._unread

    def _linger(self) -> None:
        """Take in what is still sent: a caller that is cut off while it sends sees no answer."""
        if self._unread == 0:
            return
        with self.server.seeing_off(self.connection) as room, suppress(OSError):
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            if not room:
                # What has come until now, and no more.
                self.connection.settimeout(0)
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
