"""What the kubelet and its plugins said to each other, call by call."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import Message

from lab.embedded.clock import Clock

#: Older calls are forgotten: a kubelet may run for days.
MOST_CALLS: Final = 10_000


@dataclass
class Call:
    """One call. It is open until it has an end; a stream has the last of its answers here.

    `request`, `answer` are messages of the API, and not to be changed. `error` is in the words
    that the kubelet has for it, "" where there is none.
    """

    name: str
    resource: str
    socket: str
    request: Message
    began: float
    answer: Message | None = None
    answers: int = 0
    error: str = ""
    ended: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the other side has neither answered nor gone away: a call that hangs is."""
        return self.ended is None


class Journal:
    """The calls in the order in which they began. Safe to use from several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: deque[Call] = deque(maxlen=MOST_CALLS)
        self._lock = threading.Lock()

    def begin(self, name: str, resource: str, socket: str, request: Message) -> Call:
        """Take down a call that is about to be made."""
        call = Call(name, resource, socket, request, self._clock.now())
        with self._lock:
            self._calls.append(call)
        return call

    def answered(self, call: Call, answer: Message) -> None:
        """Take down an answer, of which a stream may have many."""
        call.answer = answer
        call.answers += 1

    def end(self, call: Call, error: str = "") -> None:
        """Take down that nothing more will come."""
        call.error = error
        call.ended = self._clock.now()

    def calls(self, name: str | None = None, resource: str | None = None) -> list[Call]:
        """Return the calls of that name and for that resource, or all of them."""
        with self._lock:
            return [
                call
                for call in self._calls
                if name in {None, call.name} and resource in {None, call.resource}
            ]

    def open_calls(self) -> list[Call]:
        """Return what is still waited for, streams left out: it may hold up the whole node."""
        return [call for call in self.calls() if call.is_open and call.name != "ListAndWatch"]
