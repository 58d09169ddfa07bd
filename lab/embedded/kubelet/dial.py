"""Whether a gRPC server listens on a socket.

The channels of gRPC for Python can be asked as well, and then look after themselves in a thread of
the library for a while, which fails where the channel is closed meanwhile. So this greets the
server as HTTP/2 wants it (RFC 9113, 3.4), and goes away when that has answered in kind.
"""

import socket
import threading
from pathlib import Path
from typing import Final

_GREETING: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
#: Of a frame: its length, its type, and six bytes more.
_HEADER: Final = 9
_TYPE: Final = 3
_SETTINGS: Final = 4
_PAUSE_SECONDS: Final = 0.05


def answers_in_time(path: Path, over: threading.Event) -> bool:
    """Try until a server answers, or `over` is set; tell whether one did."""
    while not over.is_set():
        if _answers(path, over):
            return True
        over.wait(_PAUSE_SECONDS)
    return False


def _answers(path: Path, over: threading.Event) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_PAUSE_SECONDS)
        try:
            connection.connect(str(path))
            connection.sendall(_GREETING)
            return _is_greeted(connection, over)
        except OSError:
            # Nobody listens, or goes on listening; or the path is no socket, or too long for one.
            return False


def _is_greeted(connection: socket.socket, over: threading.Event) -> bool:
    received = b""
    while len(received) < _HEADER and not over.is_set():
        try:
            more = connection.recv(_HEADER - len(received))
        except TimeoutError:
            continue
        if not more:
            return False
        received += more
    return len(received) == _HEADER and received[_TYPE] == _SETTINGS
