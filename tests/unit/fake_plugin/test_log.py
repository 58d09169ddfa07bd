"""The log: one JSON object per line, for people and for programs."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from fake_plugin import events
from fake_plugin.log import (
    Event,
    Sparingly,
    milliseconds_since_start,
    say,
    say_crash,
    set_up,
)


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Return what the log is written to; pytest's own handlers are put back."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    for handler in handlers:
        root.removeHandler(handler)
    stream = io.StringIO()
    set_up(stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    """Return what was logged."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_with_its_facts(stream: io.StringIO) -> None:
    """Time, level, event and message, then the facts under their own names."""
    say(events.REFUSED, resource="a.com/x", reason="two\nlines — ü")
    (line,) = lines(stream)
    assert datetime.fromisoformat(str(line.pop("time"))).tzinfo == UTC
    assert line == {
        "level": "error",
        "event": "refused",
        "message": events.REFUSED.message,
        "resource": "a.com/x",
        "reason": "two\nlines — ü",
    }


def test_what_others_log_has_the_same_form(stream: io.StringIO) -> None:
    """A library's record is a line with the library's name as its event."""
    logging.getLogger("grpc._server").warning("served %d", 3)
    (line,) = lines(stream)
    assert (line["event"], line["message"], line["level"]) == (
        "grpc._server",
        "served 3",
        "warning",
    )


def test_a_crash_is_one_line_with_its_traceback(stream: io.StringIO) -> None:
    """Even what was not foreseen can be read by a program."""
    say_crash(events.CRASHED, LookupError("nobody foresaw this"))
    (line,) = lines(stream)
    assert line["event"] == "crashed"
    assert str(line["traceback"]).endswith("LookupError: nobody foresaw this")


def test_every_event_has_a_name_of_its_own() -> None:
    """The names are a contract: words with dashes, none used twice."""
    names = [event.name for event in vars(events).values() if isinstance(event, Event)]
    assert len(names) > 20
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalpha() and name.islower() for name in names)


def test_each_text_is_said_once() -> None:
    """Texts that take turns are no news either; all are after they were forgotten."""
    sparingly = Sparingly(every_seconds=3600)
    assert [sparingly.is_due(text) for text in "aabab"] == [True, False, True, False, False]
    sparingly.forget()
    assert sparingly.is_due("a")


def test_a_text_is_said_again_after_a_time() -> None:
    """A state that lasts is not forgotten by its reader."""
    sparingly = Sparingly(every_seconds=0)
    assert [sparingly.is_due("a") for _ in range(2)] == [True, True]


def test_age_of_the_process_grows() -> None:
    """It is counted from the start of the process, not of the measurement."""
    first, second = milliseconds_since_start(), milliseconds_since_start()
    assert 0 < first <= second
