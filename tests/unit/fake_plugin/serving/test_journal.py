"""What is kept of the calls, in which form, and how much of it."""

import json
from typing import Any

import pytest
from google.protobuf.message import Message

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    ContainerAllocateResponse,
    Device,
    DevicePluginOptions,
    DeviceSpec,
    Empty,
    ListAndWatchResponse,
)
from fake_plugin.serving.journal import Journal, Record, Tally, shown

GPU = "nvidia.com/gpu"


def asking(*ids: str) -> AllocateRequest:
    """Return a request of one container."""
    return AllocateRequest(container_requests=[ContainerAllocateRequest(devices_ids=ids)])


def after(*names: str) -> Journal:
    """Return the journal of as many calls, each of a resource of that name."""
    journal = Journal()
    for name in names:
        with journal.recording(Record("Allocate", name, Empty())):
            pass
    return journal


def lines(journal: Journal, number: int = 1, limit: int = 10_000) -> list[dict[str, Any]]:
    """Return what the journal has from a number on."""
    return [json.loads(line) for line in journal.since(number, limit)[0]]


def test_a_call_is_one_line() -> None:
    """Number, times, both messages, the code, and the rule that it met."""
    journal = Journal()
    with journal.recording(Record("Allocate", GPU, asking("d0"))) as record:
        record.answer = AllocateResponse()
        record.fault = "rule-1"
        record.code = "UNKNOWN"
    (line,) = lines(journal)
    assert line["endMs"] >= line["startMs"]
    for moving in ("time", "startMs", "endMs"):
        del line[moving]
    assert line == {
        "n": 1,
        "call": "Allocate",
        "resource": GPU,
        "request": {"container_requests": [{"devices_ids": ["d0"]}]},
        "fault": "rule-1",
        "code": "UNKNOWN",
        "answer": {},
    }


def test_messages_of_a_stream_are_lines_without_a_code() -> None:
    """Each tells how many there were; the end has the code."""
    journal = Journal()
    with journal.recording(Record("ListAndWatch", GPU, Empty())) as record:
        for _ in range(2):
            journal.sent(record, ListAndWatchResponse())
        assert [line["sent"] for line in journal.open_calls()] == [2]
    assert [(line["sent"], line.get("code")) for line in lines(journal)] == [
        (1, None),
        (2, None),
        (2, "OK"),
    ]
    first, second, end = lines(journal)
    assert end["startMs"] <= first["startMs"] <= first["endMs"] <= second["startMs"]
    assert journal.open_calls() == []


def test_a_call_that_raises_is_written_down() -> None:
    """It has ended like any other."""
    journal = Journal()
    with pytest.raises(ZeroDivisionError), journal.recording(Record("Allocate", GPU, Empty())):
        raise ZeroDivisionError
    assert [line["call"] for line in lines(journal)] == ["Allocate"]


@pytest.mark.parametrize(
    ("number", "limit", "found", "following"),
    [
        (1, 9, "abc", 4),
        (0, 9, "abc", 4),
        (2, 1, "b", 3),
        (3, 9, "c", 4),
        (4, 9, "", 4),
        (9, 9, "", 4),
    ],
)
def test_who_asks_again_gets_what_is_new(
    number: int, limit: int, found: str, following: int
) -> None:
    """The next number to ask for comes with the answer."""
    got, after_it = after(*"abc").since(number, limit)
    assert "".join(json.loads(line)["resource"] for line in got) == found
    assert after_it == following


def test_the_oldest_lines_go() -> None:
    """No more than 4096 are kept, and the numbers go on."""
    journal = after(*(str(n) for n in range(5000)))
    kept = lines(journal)
    assert (len(kept), kept[0]["n"], kept[-1]["n"]) == (4096, 905, 5000)
    assert journal.since(1, 1)[1] == 906


def test_the_lines_have_room_in_a_megabyte() -> None:
    """Whatever is asked for: long lines push out more of the old ones."""
    journal = Journal()
    request = asking(*("ü" * 70 + str(n) for n in range(16)))
    for _ in range(1000):
        with journal.recording(Record("Allocate", GPU, request)):
            pass
    kept = journal.since(1, 10_000)[0]
    assert 900_000 < sum(map(len, kept)) <= 1024 * 1024


def test_a_line_far_too_long_says_so() -> None:
    """A call that no kubelet makes does not push out all others."""
    journal = Journal()
    containers = asking(*("x" * 99 for _ in range(99))).container_requests
    request = AllocateRequest(container_requests=[*containers] * 99)
    with journal.recording(Record("Allocate", GPU, request)):
        pass
    (line,) = lines(journal)
    assert line["request"] == "too long"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (Empty(), {}),
        (DevicePluginOptions(pre_start_required=True), {"pre_start_required": True}),
        (
            ListAndWatchResponse(
                devices=[Device(ID="a", health="Healthy"), Device(ID="b", health="Unhealthy")]
            ),
            {"devices": 2, "healthy": 1, "unhealthy": ["b"]},
        ),
        (
            ContainerAllocateResponse(
                envs={"B": "x" * 81, "A": "1"}, devices=[DeviceSpec(host_path="/dev/null")]
            ),
            {"envs": {"A": "1", "B": "x" * 79 + "…"}, "devices": [{"host_path": "/dev/null"}]},
        ),
        (
            ContainerAllocateRequest(devices_ids=[f"d{n}" for n in range(18)]),
            {"devices_ids": [*(f"d{n}" for n in range(16)), "and 2 more"]},
        ),
    ],
)
def test_messages_are_shown_in_short(message: Message, expected: object) -> None:
    """Lists and texts end where a reader has seen enough."""
    assert shown(message) == expected


def test_calls_are_counted_beyond_what_is_kept() -> None:
    """By name, resource and code; lists as they are sent, faults as they are met."""
    journal = after(*[GPU] * 5000)
    with journal.recording(Record("ListAndWatch", GPU, Empty())) as record:
        record.fault, record.code = "rule-1", "CANCELLED"
        for _ in range(3):
            journal.sent(record, ListAndWatchResponse())
    assert journal.tally() == Tally(
        calls={("Allocate", GPU, "OK"): 5000, ("ListAndWatch", GPU, "CANCELLED"): 1},
        lists={GPU: 3},
        faults={("ListAndWatch", GPU): 1},
    )
