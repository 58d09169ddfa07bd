"""Who calls a control server in the tests, and what is answered there."""

import http.client
import json
from collections.abc import Callable

from fake_plugin.control.exchange import Answer, Request, answer
from fake_plugin.control.server import ControlServer

Serve = Callable[..., ControlServer]


def echo(request: Request) -> Answer:
    """Answer with what was understood of a call."""
    body = len(request.body()) if request.method == "POST" else 0
    return answer({"method": request.method, "path": request.path, "body": body})


def told(
    server: ControlServer,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, object]:
    """Make a call, and return the status and the body of the answer."""
    return asked(server.server_port, method, path, body, headers)


def asked(
    port: int,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, object]:
    """Do as `told`, at a port of this machine."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    finally:
        connection.close()
