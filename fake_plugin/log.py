"""What the plugin tells its reader: one JSON object per line on standard error.

    {"time": …, "level": "info", "event": "registered", "message": …, "resource": …}

`event` is a fixed word for programs, `message` a sentence for people; the facts stand beside them
under their own names. All events are in `fake_plugin.events`.
"""

import json
import logging
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TextIO, TypeAlias

Fact: TypeAlias = str | int | float | bool | list[str]

_LOGGER: Final = logging.getLogger("fake_plugin")
_IMPORTED_AT: Final = time.monotonic()


@dataclass(frozen=True)
class Event:
    """One kind of thing that happens: a word for programs, and a sentence for people."""

    name: str
    message: str
    level: int = logging.INFO


def say(event: Event, **facts: Fact) -> None:
    """Log an event with its facts."""
    _LOGGER.log(event.level, event.message, extra={"event": event.name, "facts": facts})


def say_crash(event: Event, crash: BaseException) -> None:
    """Log an event with the traceback of what was not foreseen."""
    _LOGGER.log(event.level, event.message, extra={"event": event.name}, exc_info=crash)


def set_up(stream: TextIO) -> None:
    """Send everything that is logged in this process to `stream`, as JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)


class JsonLines(logging.Formatter):
    """Writes a record as one line, whoever logged it: gRPC logs through the same door."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without its end."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.name),
            "message": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def milliseconds_since_start() -> int:
    """Return the age of this process, or of this module where the system does not tell."""
    if sys.platform == "linux":
        # The command's name, field 2, may hold spaces; field 22 counts ticks of 10 ms from boot.
        fields = Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        started = int(fields[19]) / _TICKS_PER_SECOND
        return round((time.clock_gettime(time.CLOCK_BOOTTIME) - started) * 1000)
    return round((time.monotonic() - _IMPORTED_AT) * 1000)


#: Linux shows times to programs in this unit on every architecture that Kubernetes runs on.
_TICKS_PER_SECOND: Final = 100


class Sparingly:
    """Decides whether a text is said again: each once, and then rarely, whatever thread asks."""

    def __init__(self, every_seconds: float) -> None:
        self._every_seconds = every_seconds
        self._said: dict[str, float] = {}
        self._lock = threading.Lock()

    def is_due(self, text: str) -> bool:
        """Tell whether to say `text` now; a yes is remembered."""
        now = time.monotonic()
        with self._lock:
            kept = {each: at for each, at in self._said.items() if now - at < self._every_seconds}
            self._said = {text: now} | kept
        return text not in kept

    def forget(self) -> None:
        """Let the next text be said, whatever it is."""
        with self._lock:
            self._said.clear()
