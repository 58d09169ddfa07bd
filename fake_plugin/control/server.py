"""HTTP within bounds: whatever is sent and by however many, the plugin stays as it is.

Eight calls at a time have a place, and a thread each; the others wait, and so do connections that
have not said what they want. The head of a call has five seconds to come, its body five more, and
half a minute is there to take the answer, whoever is slow.

Who has no token can hold no more than half of the places: an answer that is long (the metrics, open
to all) has one of four, and who goes on sending after the answer loses the place.
"""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from http.server import ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final

from fake_plugin import events
from fake_plugin.control.doorway import Doorway
from fake_plugin.control.handler import Answering, Handler
from fake_plugin.errors import NotReady
from fake_plugin.log import say, say_crash

AT_ONCE: Final = 8
LONG_AT_ONCE: Final = 4
#: Callers that have their answer and are still sending; who comes beyond that is cut off.
LINGERING: Final = 16
SECONDS: Final = 5.0
#: The metrics of 20 000 devices take seconds to write where there is little of a processor.
ANSWER_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.2


class ControlServer(ThreadingHTTPServer):
    """Answers on an address from `start` to `stop`.

    Raises `NotReady` where the address cannot be had. `seconds` is what the head of a call may
    take, and its body, and `answer_seconds` its answer.
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
        self._long = threading.BoundedSemaphore(LONG_AT_ONCE)
        self._lingering = threading.BoundedSemaphore(LINGERING)
        #: The connections that have a place.
        self._placed: set[socket.socket] = set()
        #: Until when each connection may be open.
        self._ends: dict[socket.socket, float] = {}
        self._lock = threading.Lock()
        self._stopping = False
        try:
            super().__init__((host, int(port)), Handler)
        except OSError as problem:
            raise NotReady(
                "the address of --control cannot be listened on",
                where=address,
                seen=str(problem),
                remedy="give one that is free and this machine's own",
            ) from problem
        self._doorway = Doorway(self.socket, seconds)
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
        self._doorway.close()
        self._end_all_before(float("inf"))
        self.server_close()

    def fileno(self) -> int:
        """Have the loop of the server wait for what happens in the doorway."""
        return self._doorway.fileno()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Return a connection that has said what it wants; BlockingIOError where none has."""
        return self._doorway.next()

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
            self._placed.add(request)
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
        """Cut off the calls that take too long, and those that take too long to come."""
        self._doorway.close_late(time.monotonic())
        self._end_all_before(time.monotonic())

    def heard(self, request: socket.socket) -> None:
        """Take down that a call was read to its end: what follows is the answer."""
        with self._lock:
            self._ends[request] = time.monotonic() + self.answer_seconds

    def answering_long(self) -> AbstractContextManager[bool]:
        """Tell whether there is room for one more long answer, and keep it for the block."""
        return _room_in(self._long)

    def seeing_off(self, request: socket.socket) -> AbstractContextManager[bool]:
        """Give a call's place back; tell whether there is room to wait for its end in the block."""
        self._give_back(request)
        return _room_in(self._lingering)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401, ARG002
        """Say nothing of a caller that has gone, but a mistake of ours."""
        mistake = sys.exception()
        if mistake and not isinstance(mistake, OSError):
            say_crash(events.CONTROL_FAILED, mistake)

    def _leave(self, request: socket.socket) -> None:
        with self._lock:
            self._ends.pop(request, None)
        self._give_back(request)

    def _give_back(self, request: socket.socket) -> None:
        with self._lock:
            placed = request in self._placed
            self._placed.discard(request)
        if placed:
            self._places.release()

    def _end_all_before(self, moment: float) -> None:
        with self._lock:
            for connection, end in self._ends.items():
                if end <= moment:
                    with suppress(OSError):
                        connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def _room_in(places: threading.Semaphore) -> Iterator[bool]:
    if not places.acquire(blocking=False):
        yield False
        return
    try:
        yield True
    finally:
        places.release()
