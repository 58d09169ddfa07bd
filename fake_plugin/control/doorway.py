"""Where connections wait, without a thread, until the head of their call is there.

Whoever opens a connection and says nothing, or says it byte by byte, would else have one of the few
places of those that are answered. What was sent stays with the system: it is looked at, not read.
"""

import select
import socket
import time
from contextlib import suppress
from typing import Final

from fake_plugin.control.handler import HEAD_BYTES

#: More than that, and who has waited longest goes: a proper call is whole at once.
MOST: Final = 256
_EVENTS: Final = select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET
_ENDS: Final = (b"\n\r\n", b"\n\n")


class Doorway:
    """Takes connections of `listening`, and lets them in one by one; used by one thread.

    `seconds` is how long a connection may wait for its head.
    """

    def __init__(self, listening: socket.socket, seconds: float) -> None:
        self._listening = listening
        self._seconds = seconds
        #: By file descriptor, in the order in which they came, with the end of their time.
        self._waiting: dict[int, tuple[socket.socket, object, float]] = {}
        self._poll = select.epoll()
        self._poll.register(listening, select.EPOLLIN)

    def fileno(self) -> int:
        """Return what can be read from, in the words of select, when something has happened."""
        return self._poll.fileno()

    def next(self) -> tuple[socket.socket, object]:
        """Return a connection whose head is there, with its address.

        Raises BlockingIOError where what has happened lets nobody in.
        """
        for number, event in self._poll.poll(0, 1):
            if number == self._listening.fileno():
                self._take()
            elif event & ~select.EPOLLIN or _is_whole(self._waiting[number][0]):
                self._poll.unregister(number)
                return self._waiting.pop(number)[:2]
        raise BlockingIOError

    def close_late(self, moment: float) -> None:
        """Close what has waited for too long; a head that is there waits for its turn only."""
        late = [number for number, (_, _, end) in self._waiting.items() if end <= moment]
        for number in late:
            if not _is_whole(self._waiting[number][0]):
                self._close(number)

    def close(self) -> None:
        """Close all that wait."""
        for number in [*self._waiting]:
            self._close(number)
        self._poll.close()

    def _take(self) -> None:
        connection, address = self._listening.accept()
        if len(self._waiting) >= MOST:
            self._close(next(iter(self._waiting)))
        self._waiting[connection.fileno()] = connection, address, time.monotonic() + self._seconds
        self._poll.register(connection, _EVENTS)

    def _close(self, number: int) -> None:
        connection = self._waiting.pop(number)[0]
        self._poll.unregister(number)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()


def _is_whole(connection: socket.socket) -> bool:
    """Tell whether a head is there, or as much as may be read of one, or can never be."""
    try:
        head = connection.recv(HEAD_BYTES, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return len(head) in {0, HEAD_BYTES} or any(end in head for end in _ENDS)
