"""Every gRPC call between plugin and kubelet, either way, kept for those who ask later.

Kept as lines of JSON, each as short as the log shows things: 4096 of them take a megabyte at most,
of the 50 that the plugin has. Where more happens than that, the oldest lines go.
"""

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Final, TypeAlias

from google.protobuf.message import Message

from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse
from fake_plugin.device import HEALTHY
from fake_plugin.shortening import cut

Shown: TypeAlias = "str | int | float | bool | list[Shown] | dict[str, Shown] | None"

_MOST_LINES: Final = 4096
_MOST_BYTES: Final = 1024 * 1024
_MOST_BYTES_OF_A_LINE: Final = 4096
_MOST_ITEMS: Final = 16


@dataclass
class Record:
    """A call that is under way; what is not yet known of it is filled in by who answers it."""

    call: str
    resource: str
    request: Message
    answer: Message | None = None
    code: str = "OK"
    fault: str = ""
    #: Messages that a stream has sent.
    sent: int = 0
    started: float = field(default_factory=time.monotonic)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def facts(self) -> dict[str, Shown]:
        """Return what is known now."""
        facts: dict[str, Shown] = {
            "time": self.at.isoformat(timespec="milliseconds"),
            "call": self.call,
            "resource": self.resource,
            "startMs": _ms(self.started),
            "request": shown(self.request),
        }
        if self.sent:
            facts["sent"] = self.sent
        if self.fault:
            facts["fault"] = self.fault
        return facts


@dataclass(frozen=True)
class Tally:
    """How many of what there were since the start, however few lines are kept of it.

    `calls` that have ended, by name, resource and code; `lists` sent, by resource; `faults` met,
    by call and resource.
    """

    calls: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    lists: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[tuple[str, str], int] = field(default_factory=dict)


class Journal:
    """Numbers calls as they end, and keeps the last of them. Safe to use from threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._next = 1
        self._open: dict[int, Record] = {}
        self._calls: Counter[tuple[str, str, str]] = Counter()
        self._lists: Counter[str] = Counter()
        self._faults: Counter[tuple[str, str]] = Counter()

    @contextmanager
    def recording(self, record: Record) -> Iterator[Record]:
        """Show a call as open inside the block, and write it down when that ends."""
        with self._lock:
            self._open[id(record)] = record
        try:
            yield record
        finally:
            with self._lock:
                del self._open[id(record)]
                self._calls[record.call, record.resource, record.code] += 1
                if record.fault:
                    self._faults[record.call, record.resource] += 1
            self._write(record, {"code": record.code})

    def sent(self, record: Record, message: Message) -> None:
        """Write down one message of a stream that goes on: a moment, and no time that it took."""
        record.sent += 1
        with self._lock:
            self._lists[record.resource] += 1
        moment = Record(record.call, record.resource, record.request, message)
        moment.sent, moment.fault = record.sent, record.fault
        self._write(moment, {})

    def since(self, number: int, limit: int) -> tuple[list[bytes], int]:
        """Return up to `limit` lines whose numbers are `number` or higher, and the next number.

        What comes first may have a higher number than was asked for: the ones before are gone.
        """
        with self._lock:
            first = self._next - len(self._lines)
            start = min(max(number - first, 0), len(self._lines))
            lines = [*islice(self._lines, start, start + limit)]
            return lines, first + start + len(lines)

    def tally(self) -> Tally:
        """Return how many calls, lists and faults there were."""
        with self._lock:
            return Tally(dict(self._calls), dict(self._lists), dict(self._faults))

    def open_calls(self) -> list[Mapping[str, Shown]]:
        """Return the calls that have not ended: streams, and calls that a fault holds."""
        with self._lock:
            records = tuple(self._open.values())
        return [record.facts() for record in records]

    def _write(self, record: Record, ending: Mapping[str, Shown]) -> None:
        facts: dict[str, Shown] = {**record.facts(), "endMs": _ms(time.monotonic()), **ending}
        if record.answer is not None:
            facts["answer"] = shown(record.answer)
        line = _line(facts)
        if len(line) > _MOST_BYTES_OF_A_LINE:
            facts.update({key: "too long" for key in ("request", "answer") if key in facts})
            line = _line(facts)
        with self._lock:
            line = b'{"n":%d,' % self._next + line[1:]
            self._next += 1
            self._lines.append(line)
            self._bytes += len(line)
            while len(self._lines) > _MOST_LINES or self._bytes > _MOST_BYTES:
                self._bytes -= len(self._lines.popleft())


def shown(message: Message) -> Shown:
    """Return a message as JSON has it, its lists and texts shortened as in the log.

    Of a list of devices there is only how many of them are in which health, and which are not well.
    """
    if isinstance(message, ListAndWatchResponse):
        return _shown_list(message)
    return {each.name: _shown_value(value) for each, value in message.ListFields()}


def _shown_list(message: ListAndWatchResponse) -> Shown:
    ill = [device.ID for device in message.devices if device.health != HEALTHY]
    healthy = len(message.devices) - len(ill)
    return {"devices": len(message.devices), "healthy": healthy, "unhealthy": _shown_value(ill)}


def _shown_value(value: object) -> Shown:
    match value:
        case str():
            return cut(value)
        case bool() | int() | float():
            return value
        case Message():
            return shown(value)
        case Mapping():
            few = islice(sorted(value.items()), _MOST_ITEMS)
            return {cut(str(key)): _shown_value(each) for key, each in few}
        case Sequence():
            items = [_shown_value(each) for each in islice(value, _MOST_ITEMS)]
            more = len(value) - len(items)
            return [*items, f"and {more} more"] if more else items
        case _:
            raise TypeError(f"no message has a {type(value).__name__}")


def _line(facts: Mapping[str, Shown]) -> bytes:
    return json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()


def _ms(moment: float) -> float:
    return round(moment * 1000, 3)
