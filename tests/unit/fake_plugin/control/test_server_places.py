"""The places of a server are for those who have a token, whatever strangers do."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http import HTTPStatus

import pytest

from fake_plugin.control.exchange import Answer, Request
from fake_plugin.control.handler import Handler
from fake_plugin.control.refusal import Refusal
from fake_plugin.control.server import AT_ONCE, LINGERING, LONG_AT_ONCE, ControlServer
from tests.unit.fake_plugin.control.callers import Serve, echo, told

#: Nobody is cut off for being slow: what is given back is given back for another reason.
PATIENT = (3600.0, 3600.0)


@pytest.fixture(autouse=True)
def _bytes_may_be_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 3600)


def call(stack: ExitStack, server: ControlServer, data: bytes) -> bytes:
    """Send bytes, and return the line that comes back; the connection stays open."""
    address = ("127.0.0.1", server.server_port)
    connection = stack.enter_context(socket.create_connection(address, timeout=20))
    connection.sendall(data)
    return stack.enter_context(connection.makefile("rb")).readline().strip()


def all_at_once(server: ControlServer, count: int) -> list[int]:
    """Make that many calls side by side, and return their statuses."""
    with ThreadPoolExecutor(count) as callers:
        return [
            status for status, _ in callers.map(lambda _: told(server, "GET", "/"), range(count))
        ]


def test_strangers_whose_bodies_never_come_hold_no_place(serve: Serve) -> None:
    """They have their answer, and as many good calls as ever are answered side by side."""
    together = threading.Barrier(AT_ONCE, timeout=20)

    def guarded(request: Request) -> Answer:
        if request.method == "POST":
            raise Refusal(HTTPStatus.UNAUTHORIZED, "the token is missing", where="the request")
        together.wait()
        return echo(request)

    server = serve(guarded, PATIENT)
    head = b"POST / HTTP/1.1\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n"
    with ExitStack() as stack:
        lines = [call(stack, server, head) for _ in range(4 * LINGERING)]
        assert set(lines) == {b"HTTP/1.1 401 Unauthorized"}
        assert all_at_once(server, AT_ONCE) == [200] * AT_ONCE


def test_strangers_who_do_not_read_metrics_hold_half_of_the_places(serve: Serve) -> None:
    """Who comes beyond that is told so; the other half goes on answering."""
    together = threading.Barrier(AT_ONCE - LONG_AT_ONCE, timeout=20)

    def pieces() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    def answering(request: Request) -> Answer:
        if request.path == "/metrics":
            return Answer(pieces())
        together.wait()
        return echo(request)

    server = serve(answering, PATIENT)
    with ExitStack() as stack:
        scrape = b"GET /metrics HTTP/1.1\r\n\r\n"
        lines = [call(stack, server, scrape) for _ in range(3 * AT_ONCE)]
        assert lines[:LONG_AT_ONCE] == [b"HTTP/1.1 200 OK"] * LONG_AT_ONCE
        assert set(lines[LONG_AT_ONCE:]) == {b"HTTP/1.1 503 Service Unavailable"}
        assert all_at_once(server, AT_ONCE - LONG_AT_ONCE) == [200] * (AT_ONCE - LONG_AT_ONCE)


def test_a_long_answer_that_has_ended_makes_room(serve: Serve) -> None:
    """One scrape after the other is never too many."""
    server = serve(lambda _: Answer(piece for piece in (b"[1", b"]")))
    assert [told(server, "GET", "/") for _ in range(2 * AT_ONCE)] == [(200, [1])] * 2 * AT_ONCE
