"""The calls between a kubelet and a plugin, as the plugin has written them down."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, JsonValue, PlainSerializer

from fake_plugin.faults.fault import Call as Method

#: The plugin gives out no more in one answer.
MOST: Final = 1000

_Moment = Annotated[datetime, PlainSerializer(lambda time: time.isoformat(timespec="milliseconds"))]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call, or one message of a stream that goes on; `number` is None as long as it is open.

    `time` is when it began. `code` is a gRPC code, "" for a message and for what is open. `fault`
    is the ID of the rule that it met, `sent` how many messages a stream has sent. `request` and
    `answer` are the messages of the device plugin API, shortened where they are long.
    `started` and `ended` are milliseconds of the node's monotonic clock.
    """

    number: Annotated[int | None, Field(alias="n")] = None
    time: _Moment
    call: Method
    resource: str
    started: Annotated[float, Field(alias="startMs")]
    request: JsonValue
    sent: int = 0
    fault: str = ""
    ended: Annotated[float | None, Field(alias="endMs")] = None
    code: str = ""
    answer: JsonValue = None

    @property
    def is_open(self) -> bool:
        """Whether it has not ended yet."""
        return self.number is None

    @property
    def duration(self) -> float | None:
        """Return the seconds that it took; None for what is open, and for a message."""
        if self.ended is None or not self.code:
            return None
        return (self.ended - self.started) / 1000


@dataclass(frozen=True)
class Journal:
    """Calls in the order in which they ended, the number of the next one, and those still open."""

    calls: tuple[Call, ...]
    next: int
    open: tuple[Call, ...]

    @classmethod
    def read(cls, part: Callable[[int], "Journal"], since: int) -> "Journal":
        """Return all calls from a number on, where `part` has up to `MOST` from one on."""
        found = last = part(since)
        while len(last.calls) == MOST:
            last = part(last.next)
            found = replace(last, calls=found.calls + last.calls)
        return found
