"""HTTP within bounds: what is too large, too slow, too much or no HTTP at all."""

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from fake_plugin.control import server as bounds
from fake_plugin.control.doorway import MOST
from fake_plugin.control.exchange import Answer, Request
from fake_plugin.control.handler import BODY_BYTES
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.server import AT_ONCE, ControlServer
from fake_plugin.errors import NotReady
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.control.callers import Serve, echo, told

JSON = {"Content-Type": "application/json"}
POST = b"POST / HTTP/1.0\r\nContent-Type: application/json\r\n"


def raw(server: ControlServer, data: bytes) -> bytes:
    """Send bytes, and return all that comes back."""
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_comes_through(serve: Serve, method: str) -> None:
    """Which of them makes sense is for the routes to say."""
    status, body = told(serve(), method, "/v1/x?y=1", b"{}", JSON)
    expected = {"method": method, "path": "/v1/x", "body": 2 if method == "POST" else 0}
    assert (status, body) == (200, expected)


def test_a_refusal_is_json(serve: Serve) -> None:
    """With its status."""

    def refuse(_: Request) -> Answer:
        raise Refusal(http.HTTPStatus.CONFLICT, "no", where="here", seen="that", remedy="do")

    error = {"what": "no", "where": "here", "seen": "that", "remedy": "do"}
    assert told(serve(refuse), "GET", "/") == (409, {"error": error})


def test_a_mistake_ends_one_call_only(serve: Serve, said: Said) -> None:
    """The log has the traceback, and the next call is answered."""

    def stumble(request: Request) -> Answer:
        if request.path == "/bad":
            raise ZeroDivisionError
        return echo(request)

    server = serve(stumble)
    assert told(server, "GET", "/bad")[0] == 500
    assert told(server, "GET", "/good")[0] == 200
    assert len(said("control-listening")) == 1


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"x" * (BODY_BYTES + 1), JSON, 413),
        (b"x" * 10 * 1024 * 1024, JSON, 413),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"{}", {}, 415),
        (b"x" * BODY_BYTES, {"Content-Type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_a_body_is_of_one_kind_and_has_an_end(
    serve: Serve, body: bytes, headers: dict[str, str], status: int
) -> None:
    """A caller who is still sending hears it all the same."""
    server = serve()
    assert told(server, "POST", "/", body, headers)[0] == status
    assert told(server, "POST", "/", b"{}", JSON)[0] == 200


def test_too_many_names_are_told_to_be_fewer(serve: Serve) -> None:
    """In words for whoever typed them, and has seen no body."""
    _, told_of = told(serve(), "POST", "/", b"x" * (BODY_BYTES + 1), JSON)
    assert told_of == {
        "error": {
            "what": "too much is asked at once: 65536 bytes are the most",
            "where": "the header Content-Length",
            "seen": "65537 bytes",
            "remedy": "name fewer devices at a time, or all; nothing was changed",
        }
    }


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", b""),
        (b"hello\r\n\r\n", b"400"),
        (b"BREW /pot HTTP/1.0\r\n\r\n", b"405"),
        (b"GET http://[x HTTP/1.0\r\n\r\n", b"400"),
        (b"GET / HTTP/9.9\r\n\r\n", b"505"),
        (b"GET /" + b"x" * 20_000 + b" HTTP/1.0\r\n\r\n", b"431"),
        (b"GET / HTTP/1.0\r\nA: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.0\r\n" + b"A: x\r\n" * 5_000 + b"\r\n", b"431"),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"411"),
        (POST + b"Content-Length: -1\r\n\r\n", b"411"),
        (POST + b"Content-Length: 9\r\n\r\n{}", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
    ],
)
def test_what_is_no_proper_call_is_answered_or_dropped(
    serve: Serve, data: bytes, status: bytes
) -> None:
    """And the next one is none the worse for it."""
    server = serve()
    assert status in raw(server, data)[:40]
    assert told(server, "GET", "/")[0] == 200


@pytest.mark.parametrize(
    "data",
    [
        b"%b / HTTP/1.0\r\n\r\n",
        b"GET / %b\r\n\r\n",
        b"GET http://[%b HTTP/1.0\r\n\r\n",
        b"POST / HTTP/1.0\r\nContent-Length: 2\r\nContent-Type: %b\r\n\r\n{}",
        b"GET /bad/%b HTTP/1.0\r\n\r\n",
    ],
)
def test_what_was_sent_is_not_repeated_at_length(serve: Serve, data: bytes) -> None:
    """Nor by HTTP itself."""

    def stumble(request: Request) -> Answer:
        if request.path.startswith("/bad"):
            raise ZeroDivisionError
        return echo(request)

    head, _, body = raw(serve(stumble), data % (b"x" * 8000)).partition(b"\r\n\r\n")
    assert json.loads(body)["error"]["what"]
    assert len(head) + len(body) < 1000


def test_errors_of_http_itself_are_json(serve: Serve) -> None:
    """Like all others."""
    body = raw(serve(), b"BREW /pot HTTP/1.0\r\n\r\n").partition(b"\r\n\r\n")[2]
    assert json.loads(body)["error"]["what"] == "Unsupported method ('BREW')"


def test_two_hundred_at_once_are_all_answered(serve: Serve) -> None:
    """By eight threads, one after the other; memory does not grow with the callers."""
    busy: list[int] = []
    count = threading.Semaphore(AT_ONCE)

    def watched(request: Request) -> Answer:
        busy.append(1)
        assert count.acquire(blocking=False)
        try:
            return echo(request)
        finally:
            count.release()

    server = serve(watched)
    with ThreadPoolExecutor(200) as callers:
        answers = [*callers.map(lambda n: told(server, "GET", f"/{n}"), range(200))]
    assert [status for status, _ in answers] == [200] * 200
    assert len(busy) == 200


def test_slow_senders_are_cut_off(serve: Serve) -> None:
    """Who holds all places and sends a byte now and then does not hold them for long."""
    server = serve(seconds=(0.3, 30.0))
    head = POST + b"Content-Length: 60000\r\n\r\n"
    stop = threading.Event()

    def dribble(connection: socket.socket) -> None:
        with suppress(OSError):
            while not stop.wait(0.02):
                connection.sendall(b"x")

    with ExitStack() as stack:
        for number in range(AT_ONCE + 4):
            address = ("127.0.0.1", server.server_port)
            connection = stack.enter_context(socket.create_connection(address))
            connection.sendall(head if number % 2 else b"GET / HT")
            thread = threading.Thread(target=dribble, args=(connection,))
            thread.start()
            stack.callback(thread.join)
        stack.callback(stop.set)
        assert told(server, "GET", "/")[0] == 200


def test_who_does_not_read_is_cut_off(serve: Serve) -> None:
    """An answer that nobody takes does not keep a thread."""
    over = threading.Event()

    def endless(_: Request) -> Answer:
        def pieces() -> Iterator[bytes]:
            try:
                while True:
                    yield b"x" * 65536
            finally:
                over.set()

        return Answer(pieces())

    server = serve(endless, seconds=(5.0, 0.3))
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert over.wait(10)


@pytest.mark.parametrize(
    ("version", "chunked", "expected"),
    [
        (b"1.1", True, b"2\r\n[1\r\n4\r\n, 2]\r\n0\r\n\r\n"),
        (b"1.0", False, b"[1, 2]"),
    ],
)
def test_an_answer_in_pieces_is_whole(
    serve: Serve, version: bytes, expected: bytes, *, chunked: bool
) -> None:
    """Who speaks HTTP/1.1 can tell that it has ended; its length is not known before."""
    server = serve(lambda _: Answer(piece for piece in (b"[1", b"", b", 2]")))
    head, _, body = raw(server, b"GET / HTTP/%b\r\n\r\n" % version).partition(b"\r\n\r\n")
    assert (b"chunked" in head, body) == (chunked, expected)


def test_an_answer_that_is_cut_off_is_seen_to_be(serve: Serve) -> None:
    """A list of half of the devices must not pass for all of them."""

    def half(_: Request) -> Answer:
        def pieces() -> Iterator[bytes]:
            yield b"[1, "
            raise ZeroDivisionError

        return Answer(pieces())

    with pytest.raises(http.client.IncompleteRead):
        told(serve(half), "GET", "/")


def test_an_answer_may_take_longer_than_its_call(serve: Serve) -> None:
    """It is the caller who must not be slow."""
    late = threading.Event()

    def slow(request: Request) -> Answer:
        found = echo(request)
        late.wait(0.5)
        return found

    server = serve(slow, seconds=(0.1, 30.0))
    assert told(server, "GET", "/")[0] == 200
    assert told(server, "POST", "/", b"{}", JSON)[0] == 200


@pytest.mark.parametrize("said", [b"", b"GET / HT"])
def test_who_says_nothing_keeps_nobody_waiting(serve: Serve, said: bytes) -> None:
    """More than can be held are open and in time for ever: who has a call is answered."""
    server = serve(seconds=(3600.0, 30.0))
    with ExitStack() as stack:
        for _ in range(MOST + 44):
            address = ("127.0.0.1", server.server_port)
            connection = stack.enter_context(socket.create_connection(address))
            connection.sendall(said)
        assert told(server, "GET", "/healthz")[0] == 200
        assert told(server, "POST", "/", b"{}", JSON)[0] == 200


def test_the_first_to_wait_is_the_first_to_go(serve: Serve) -> None:
    """Where more say nothing than can be held; the others may speak still."""
    server = serve(seconds=(3600.0, 30.0))
    address = ("127.0.0.1", server.server_port)
    with ExitStack() as stack:
        first, *_, last = [
            stack.enter_context(socket.create_connection(address, timeout=20))
            for _ in range(MOST + 1)
        ]
        assert first.recv(1) == b""
        last.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert last.recv(12) == b"HTTP/1.1 200"


def test_who_says_nothing_is_cut_off(serve: Serve) -> None:
    """After as long as a call may take to come."""
    server = serve(seconds=(0.1, 30.0))
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        assert connection.recv(1) == b""


def test_a_call_that_waits_for_its_place_is_not_cut_off(serve: Serve) -> None:
    """However long the others take: it has said all that it had to."""
    free = threading.Event()

    def held(request: Request) -> Answer:
        free.wait(20)
        return echo(request)

    server = serve(held, seconds=(0.1, 30.0))
    with ThreadPoolExecutor(AT_ONCE * 3) as callers:
        answers = [callers.submit(told, server, "GET", "/") for _ in range(AT_ONCE * 3)]
        assert not free.wait(0.5)
        free.set()
        assert [each.result()[0] for each in answers] == [200] * AT_ONCE * 3


def test_it_stops_with_calls_under_way(serve: Serve) -> None:
    """The end of the plugin waits for no caller, whether its call is answered or yet to come."""
    begun, over = threading.Event(), threading.Event()

    def held(request: Request) -> Answer:
        begun.set()
        over.wait(20)
        return echo(request)

    server = serve(held)
    address = ("127.0.0.1", server.server_port)
    with (
        socket.create_connection(address, timeout=10) as answered,
        socket.create_connection(address, timeout=10) as silent,
    ):
        answered.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert begun.wait(10)
        server.stop()
        assert (answered.recv(100), silent.recv(100)) == (b"", b"")
        over.set()


def test_it_listens_on_ipv6(serve: Serve) -> None:
    """With the address in brackets."""
    try:
        server = serve(host="[::1]")
    except NotReady as problem:
        pytest.skip(problem.seen)
    with socket.create_connection(("::1", server.server_port), timeout=10) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("address", ["256.0.0.1:1", "192.0.2.1:9441"])
def test_an_address_that_is_not_ours_is_refused(address: str) -> None:
    """The node lacks something: exit code 3."""
    with pytest.raises(
        NotReady, match=r"^the address of --control cannot be listened on$"
    ) as caught:
        ControlServer(address, echo)
    assert (caught.value.where, bool(caught.value.seen)) == (address, True)


def test_a_call_has_as_long_as_the_server_says() -> None:
    """In earnest five seconds, and half a minute to take its answer."""
    assert (bounds.SECONDS, bounds.ANSWER_SECONDS) == (5.0, 30.0)
