"""Calls that go wrong over a real socket, and what is written down of them."""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    Empty,
    PreStartContainerRequest,
)
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from fake_plugin.faults.fault import Delay, Drop, Fail, Hang, Wrong
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.interceptor import MOST_HELD, Switchboard
from fake_plugin.serving.listener import Listener, target
from fake_plugin.serving.sockets import SocketNames
from tests.unit.fake_plugin.conftest import plain_resource
from tests.unit.fake_plugin.kubelet import CHANNEL_OPTIONS, wait_until

ONE = AllocateRequest(container_requests=[ContainerAllocateRequest(devices_ids=["d0"])])


@pytest.fixture
def switchboard() -> Switchboard:
    """Return a book without rules and a journal without lines."""
    return Switchboard()


@pytest.fixture
def resource(tmp_path: Path) -> Resource:
    """Return a resource with two devices."""
    return plain_resource("example.com/device", 2, tmp_path)


@pytest.fixture
def listener(
    resource: Resource, folder: Path, tmp_path: Path, switchboard: Switchboard
) -> Iterator[Listener]:
    """Return a listener that serves the resource."""
    listener = Listener(resource, SocketNames(folder, tmp_path), switchboard, lambda: None)
    yield listener
    listener.close()


@pytest.fixture
def plugin(listener: Listener) -> Iterator[DevicePluginStub]:
    """Return the plugin as a client sees it."""
    with grpc.insecure_channel(target(listener.path), options=CHANNEL_OPTIONS) as channel:
        yield DevicePluginStub(channel)


@pytest.fixture
def journal(switchboard: Switchboard) -> Callable[[], list[dict[str, Any]]]:
    """Return what reads the journal."""
    return lambda: [json.loads(line) for line in switchboard.journal.since(1, 100)[0]]


def timers() -> list[threading.Thread]:
    """Return the threads that wait for a time."""
    return [each for each in threading.enumerate() if isinstance(each, threading.Timer)]


def refusal(call: Callable[[], object]) -> tuple[grpc.StatusCode, str | None]:
    """Return code and text of a call that fails."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value.code(), caught.value.details()


def test_a_call_fails_with_code_and_text(
    plugin: DevicePluginStub,
    switchboard: Switchboard,
    journal: Callable[[], list[dict[str, Any]]],
) -> None:
    """The one that the rule is about, and the next is answered."""
    switchboard.book.add("Allocate", Fail("device busy", "UNAVAILABLE"), nth=1)
    assert refusal(lambda: plugin.Allocate(ONE)) == (grpc.StatusCode.UNAVAILABLE, "device busy")
    assert len(plugin.Allocate(ONE).container_responses) == 1
    assert [(line["code"], line.get("fault")) for line in journal()] == [
        ("UNAVAILABLE", "rule-1"),
        ("OK", None),
    ]


def test_a_refusal_of_the_service_is_written_down_too(
    plugin: DevicePluginStub, journal: Callable[[], list[dict[str, Any]]]
) -> None:
    """The journal has the code that the caller has."""
    unknown = PreStartContainerRequest(devices_ids=["d9"])
    assert refusal(lambda: plugin.PreStartContainer(unknown))[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert [line["code"] for line in journal()] == ["INVALID_ARGUMENT"]


def test_a_late_answer_is_right(
    plugin: DevicePluginStub,
    switchboard: Switchboard,
    journal: Callable[[], list[dict[str, Any]]],
) -> None:
    """The journal shows how late."""
    switchboard.book.add("Allocate", Delay(0.05))
    assert len(plugin.Allocate(ONE).container_responses) == 1
    (line,) = journal()
    assert line["endMs"] - line["startMs"] >= 50


def test_a_wrong_answer(plugin: DevicePluginStub, switchboard: Switchboard) -> None:
    """The answer that comes is the one that the rule asks for."""
    switchboard.book.add("Allocate", Wrong("empty"))
    assert plugin.Allocate(ONE) == AllocateResponse()


def test_a_call_hangs_until_its_rule_goes(
    plugin: DevicePluginStub, switchboard: Switchboard
) -> None:
    """It is then answered rightly, and shown as open before."""
    rule = switchboard.book.add("Allocate", Hang())
    call = plugin.Allocate.future(ONE)
    wait_until("the call", lambda: len(switchboard.journal.open_calls()) == 1)
    assert switchboard.journal.open_calls()[0]["fault"] == rule.id
    assert not call.done()
    switchboard.book.remove(rule.id)
    assert len(call.result(5).container_responses) == 1


def test_a_call_hangs_until_its_caller_goes(
    plugin: DevicePluginStub,
    switchboard: Switchboard,
    journal: Callable[[], list[dict[str, Any]]],
) -> None:
    """Nothing waits for a caller that has given up."""
    switchboard.book.add("Allocate", Hang())
    code, _ = refusal(lambda: plugin.Allocate(ONE, timeout=0.05))
    assert code is grpc.StatusCode.DEADLINE_EXCEEDED
    wait_until("the end of the call", lambda: switchboard.journal.open_calls() == [])
    assert [line["code"] for line in journal()] == ["CANCELLED"]


def test_calls_that_hang_leave_room_for_others(
    plugin: DevicePluginStub, switchboard: Switchboard
) -> None:
    """However many are made, other calls are answered; too many fail at once."""
    switchboard.book.add("Allocate", Hang())
    calls = [plugin.Allocate.future(ONE) for _ in range(MOST_HELD + 20)]
    refused = grpc.StatusCode.RESOURCE_EXHAUSTED
    wait_until("20 refusals", lambda: sum(each.done() for each in calls) == 20)
    assert {each.code() for each in calls if each.done()} == {refused}
    plugin.PreStartContainer(PreStartContainerRequest(devices_ids=["d0"]), timeout=5)
    assert len(next(iter(plugin.ListAndWatch(Empty(), timeout=5))).devices) == 2


def test_calls_that_were_held_make_room_for_others(
    plugin: DevicePluginStub, switchboard: Switchboard
) -> None:
    """A rule about every call does not run out of places."""
    switchboard.book.add("Allocate", Delay(0.001))
    for _ in range(MOST_HELD + 1):
        assert len(plugin.Allocate(ONE).container_responses) == 1


def test_calls_that_hang_end_with_the_listener(
    plugin: DevicePluginStub, switchboard: Switchboard, listener: Listener
) -> None:
    """They are told so, and are not cut off after the time that other calls have."""
    switchboard.book.add("Allocate", Hang())
    call = plugin.Allocate.future(ONE)
    wait_until("the call", lambda: len(switchboard.journal.open_calls()) == 1)
    listener.close()
    assert call.code() is grpc.StatusCode.UNAVAILABLE
    assert call.details() == "example.com/device: the plugin is ending"


@pytest.mark.parametrize(("seconds", "lists"), [(0.0, 0), (0.05, 1)])
def test_a_stream_is_dropped(
    plugin: DevicePluginStub, switchboard: Switchboard, seconds: float, lists: int
) -> None:
    """Before its first list, or some time after; the next stream lives."""
    switchboard.book.add("ListAndWatch", Drop(seconds), nth=1)
    assert len([*plugin.ListAndWatch(Empty(), timeout=5)]) == lists
    assert len(next(iter(plugin.ListAndWatch(Empty(), timeout=5))).devices) == 2


def test_a_stream_that_ends_by_itself_is_not_dropped_later(
    plugin: DevicePluginStub, switchboard: Switchboard
) -> None:
    """What was to drop it is gone with it, and not kept for an hour."""
    switchboard.book.add("ListAndWatch", Drop(3600))
    stream = plugin.ListAndWatch(Empty(), timeout=5)
    assert len(next(iter(stream)).devices) == 2
    assert timers()
    stream.cancel()
    wait_until("the end of the timer", lambda: not timers())


def test_a_stream_that_is_dropped_is_counted_out(
    plugin: DevicePluginStub, switchboard: Switchboard, listener: Listener
) -> None:
    """The registration sees that the kubelet has lost its list."""
    switchboard.book.add("ListAndWatch", Drop(0))
    assert [*plugin.ListAndWatch(Empty(), timeout=5)] == []
    wait_until("the end of the stream", lambda: not listener.streams.watched)
    assert listener.streams.opened


def test_a_stream_fails_before_its_first_list(
    plugin: DevicePluginStub, switchboard: Switchboard, listener: Listener
) -> None:
    """The kubelet then shows the resource with 0 devices, and never asks again."""
    switchboard.book.add("ListAndWatch", Fail("no list today", "INTERNAL"))
    answers = refusal(lambda: [*plugin.ListAndWatch(Empty(), timeout=5)])
    assert answers == (grpc.StatusCode.INTERNAL, "no list today")
    assert listener.streams.opened


def test_a_stream_whose_list_never_comes_counts_as_watched(
    plugin: DevicePluginStub, switchboard: Switchboard, listener: Listener
) -> None:
    """It is the plugin that is silent, and not a kubelet that never asked."""
    rule = switchboard.book.add("ListAndWatch", Hang())
    stream = iter(plugin.ListAndWatch(Empty(), timeout=5))
    wait_until("the stream", lambda: listener.streams.watched)
    switchboard.book.remove(rule.id)
    assert len(next(stream).devices) == 2


def test_a_wrong_list(plugin: DevicePluginStub, switchboard: Switchboard) -> None:
    """The list of one stream is wrong, and that of the next is not."""
    switchboard.book.add("ListAndWatch", Wrong("too-few"), nth=1)
    for devices in (1, 2):
        assert len(next(iter(plugin.ListAndWatch(Empty(), timeout=5))).devices) == devices


def test_a_stream_is_right_again_once_the_fault_is_gone(
    plugin: DevicePluginStub, switchboard: Switchboard
) -> None:
    """Nothing has changed that would have the list sent otherwise, and it stays the one stream."""
    switchboard.book.add("ListAndWatch", Wrong("too-few"))
    stream = iter(plugin.ListAndWatch(Empty(), timeout=5))
    assert len(next(stream).devices) == 1
    switchboard.book.clear()
    assert len(next(stream).devices) == 2


def test_a_stream_is_not_dropped_by_a_fault_that_is_gone(
    plugin: DevicePluginStub, switchboard: Switchboard, resource: Resource
) -> None:
    """Its time was set when the stream was opened."""
    switchboard.book.add("ListAndWatch", Drop(0.2))
    stream = iter(plugin.ListAndWatch(Empty(), timeout=5))
    assert len(next(stream).devices) == 2
    switchboard.book.clear()
    wait_until("the end of the timer", lambda: not timers())
    resource.send_again()
    assert len(next(stream).devices) == 2
