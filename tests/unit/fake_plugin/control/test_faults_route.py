"""Rules that are made, listed and removed over the API."""

from typing import Any

import pytest

from fake_plugin.control.faults import MOST_RULES
from fake_plugin.control.node import Node
from fake_plugin.faults.fault import MOST_CHARACTERS, Delay, Drop, Effect, Fail, Hang, Wrong
from tests.unit.fake_plugin.control.conftest import GPU, Call


@pytest.mark.parametrize(
    ("body", "effect", "shown"),
    [
        ({"fails": "busy"}, Fail("busy"), {"fails": "busy", "code": "UNKNOWN"}),
        ({"fails": "busy", "code": "ABORTED"}, Fail("busy", "ABORTED"), {"code": "ABORTED"}),
        ({"delay": "5s"}, Delay(5.0), {"delay": "5s"}),
        ({"delay": "150ms"}, Delay(0.15), {"delay": "150ms"}),
        ({"hang": True}, Hang(), {"hang": True}),
        ({"answers": "too-few"}, Wrong("too-few"), {"answers": "too-few"}),
        ({"call": "ListAndWatch", "drop": "0s"}, Drop(0.0), {"drop": "0s"}),
    ],
)
def test_a_rule_reads_as_in_the_fleet(
    call: Call, node: Node, body: dict[str, Any], effect: Effect, shown: dict[str, Any]
) -> None:
    """And is shown in the same words."""
    told = call("POST", "/v1/faults", {"call": "Allocate"} | body)
    assert told.status == 200
    (entry,) = node.switchboard.book.entries()
    assert entry.fault.effect == effect
    assert told.body | shown == told.body


def test_a_text_that_grpc_could_not_carry_is_refused(call: Call, node: Node) -> None:
    """The kubelet would see an error of gRPC's own in its place."""
    body = {"call": "Allocate", "fails": "é" * (MOST_CHARACTERS + 1)}
    told = call("POST", "/v1/faults", body)
    assert (told.status, told.what) == (400, "fails must have 512 characters or less")
    assert node.switchboard.book.entries() == ()
    assert call("POST", "/v1/faults", body | {"fails": "é" * MOST_CHARACTERS}).status == 200


def test_there_are_only_so_many_rules(call: Call, node: Node) -> None:
    """One more is refused, and those that are there stay."""
    for _ in range(MOST_RULES):
        node.switchboard.book.add("Allocate", Hang())
    told = call("POST", "/v1/faults", {"call": "Allocate", "hang": True})
    assert (told.status, told.what) == (409, "there are 256 rules already")
    assert len(node.switchboard.book.entries()) == MOST_RULES


def test_half_of_a_character_makes_no_rule(call: Call, node: Node) -> None:
    """A rule with such a text could be listed to nobody."""
    told = call("POST", "/v1/faults", b'{"call": "Allocate", "fails": "\\ud800"}')
    assert (told.status, told.what) == (
        400,
        "a name, or another text, cannot be written in UTF-8",
    )
    assert node.switchboard.book.entries() == ()


def test_rules_are_listed_with_their_counts(call: Call, node: Node) -> None:
    """How many calls each has seen, and how many met it."""
    body = {"call": "Allocate", "hang": True, "resource": GPU, "nth": 2}
    assert call("POST", "/v1/faults", body).body["id"] == "rule-1"
    for _ in range(3):
        node.switchboard.book.meet("Allocate", GPU)
    assert call("GET", "/v1/faults").body == {
        "faults": [
            {
                "id": "rule-1",
                "call": "Allocate",
                "resource": GPU,
                "nth": 2,
                "times": None,
                "hang": True,
                "seen": 3,
                "hit": 1,
                "spent": True,
            }
        ]
    }


def test_rules_are_removed(call: Call, node: Node) -> None:
    """One by its ID, or all of them."""
    for _ in range(3):
        call("POST", "/v1/faults", {"call": "Allocate", "hang": True})
    assert call("DELETE", "/v1/faults/rule-2").body == {"removed": 1}
    assert [entry.fault.id for entry in node.switchboard.book.entries()] == ["rule-1", "rule-3"]
    assert call("DELETE", "/v1/faults").body == {"removed": 2}


def test_a_rule_that_is_not_there_is_told(call: Call) -> None:
    """With those that are."""
    call("POST", "/v1/faults", {"call": "Allocate", "hang": True})
    told = call("DELETE", "/v1/faults/rule-9")
    assert (told.status, told.what) == (404, "there is no rule 'rule-9'")
    assert told.body["error"]["seen"] == "rules that there are: rule-1"


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        ({"call": "Reallocate", "hang": True}, 400, "call must be one of Register, Get"),
        ({"call": "Allocate"}, 400, "the body needs exactly one of fails, delay, hang"),
        ({"call": "Allocate", "hang": True, "delay": "1s"}, 400, "the body needs exactly one of"),
        ({"call": "Allocate", "hang": False}, 400, "hang must be true"),
        ({"call": "Allocate", "delay": 5}, 400, "delay must be a whole number from 1"),
        ({"call": "Allocate", "fails": "x", "code": "OK"}, 400, "code must be one of CANCELLED"),
        ({"call": "Allocate", "drop": "0s"}, 400, "Allocate has no stream that could be dropped"),
        ({"call": "Register", "answers": "empty"}, 400, "the answer to Register has no content"),
        ({"call": "Allocate", "hang": True, "nth": 0}, 400, "nth must be a whole number from 1"),
        ({"call": "Allocate", "hang": True, "node": "nvidia-0"}, 400, "node is for the fleet file"),
        ({"call": "Allocate", "hang": True, "resource": "a.com/b"}, 404, "no resource 'a.com/b'"),
        ({"call": "Allocate", "hang": True, "first": 1}, 400, "first is not something that this"),
    ],
)
def test_what_is_wrong_is_told_and_no_rule_is_made(
    call: Call, node: Node, body: dict[str, Any], status: int, what: str
) -> None:
    """The rules are those of the fleet file."""
    told = call("POST", "/v1/faults", body)
    assert (told.status, what in told.what) == (status, True)
    assert node.switchboard.book.entries() == ()
