"""The calls between a kubelet and a plugin, as values."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    ContainerAllocateRequest,
    Device,
    Empty,
    ListAndWatchResponse,
)
from fake_plugin.serving.journal import Record
from lab.cluster.plugin.api import written
from lab.cluster.plugin.journal import MOST, Call, Journal
from lab.cluster.plugin.node_plugin import NodePlugin
from tests.unit.stand_ins.api_server import GPU
from tests.unit.stand_ins.plugin import Plugin

LISTED = ListAndWatchResponse(devices=[Device(ID="a", health="Healthy")])


def call(number: int) -> Call:
    """Return a call that has ended."""
    moment = datetime(2026, 12, 2, tzinfo=UTC)
    return Call(
        number=number,
        time=moment,
        call="Allocate",
        resource=GPU,
        started=1.0,
        ended=3.5,
        request={},
        code="OK",
    )


def test_a_call_has_what_was_said_and_when(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """And which rule it met."""
    asked = AllocateRequest(container_requests=[ContainerAllocateRequest(devices_ids=["a"])])
    before = datetime.now(UTC) - timedelta(seconds=1)
    with plugin.node.switchboard.journal.recording(Record("Allocate", GPU, asked)) as record:
        record.fault, record.code, record.answer = "rule-1", "ABORTED", Empty()
    (found,) = node_plugin.journal().calls
    assert (found.number, found.call, found.resource) == (1, "Allocate", GPU)
    assert (found.code, found.fault, found.answer) == ("ABORTED", "rule-1", {})
    assert found.request == {"container_requests": [{"devices_ids": ["a"]}]}
    assert before < found.time <= datetime.now(UTC)
    assert (found.is_open, found.duration is not None) == (False, True)


def test_a_stream_is_open_and_sends(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """A message of it is a moment, and took no time."""
    journal = plugin.node.switchboard.journal
    with journal.recording(Record("ListAndWatch", GPU, Empty())) as stream:
        journal.sent(stream, LISTED)
        found = node_plugin.journal()
    (message,) = found.calls
    assert (message.sent, message.code, message.duration, message.is_open) == (1, "", None, False)
    assert message.answer == {"devices": 1, "healthy": 1, "unhealthy": []}
    (stream_found,) = found.open
    assert (stream_found.is_open, stream_found.duration, stream_found.number) == (True, None, None)


def test_a_journal_is_written_as_it_came(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """For tools: times, and keys that a call has not, too."""
    journal = plugin.node.switchboard.journal
    with journal.recording(Record("Allocate", GPU, Empty(), Empty())):
        pass
    with journal.recording(Record("ListAndWatch", GPU, Empty())) as stream:
        journal.sent(stream, LISTED)
        found = written(node_plugin.journal())
        assert found == json.loads(plugin.ask("GET", "/v1/journal"))


def test_a_duration_is_in_seconds() -> None:
    """The plugin tells milliseconds."""
    assert call(1).duration == pytest.approx(0.0025)


@pytest.mark.parametrize(
    ("kept", "since", "asked"),
    [
        (0, 1, [1]),
        (MOST - 1, 1, [1]),
        (MOST, 1, [1, MOST + 1]),
        (2 * MOST + 1, 1, [1, MOST + 1, 2 * MOST + 1]),
        (2 * MOST, MOST + 2, [MOST + 2]),
    ],
)
def test_a_journal_is_read_to_its_end(kept: int, since: int, asked: list[int]) -> None:
    """By as many answers as it takes; what is open is of the last one."""
    calls = [call(number) for number in range(1, kept + 1)]
    asked_for: list[int] = []

    def part(number: int) -> Journal:
        asked_for.append(number)
        some = tuple(calls[number - 1 : number - 1 + MOST])
        return Journal(some, number + len(some), (call(number),))

    found = Journal.read(part, since)
    assert found.calls == tuple(calls[since - 1 :])
    assert (found.next, found.open) == (kept + 1, (call(asked[-1]),))
    assert asked_for == asked
