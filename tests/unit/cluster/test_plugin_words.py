"""What is asked of a plugin in words: a change of health, a rule, a time."""

from typing import cast

import pytest

from fake_plugin.faults.fault import Call, Delay, Drop, Fail, Fault, Hang, Wrong
from fake_plugin.faults.fault import Effect as What
from fake_plugin.hardware.breakage import Breakage
from lab.cluster.plugin.faults import Effect, fault
from lab.cluster.plugin.health import HealthChange, Reason, breakage
from lab.cluster.plugin.words import GiveOne, seconds
from lab.core.errors import UsageError


@pytest.mark.parametrize(
    ("words", "effect"),
    [
        ({"fails": "busy"}, Fail("busy")),
        ({"fails": "busy", "code": "ABORTED"}, Fail("busy", "ABORTED")),
        ({"delay": 0.5}, Delay(0.5)),
        ({"hang": True}, Hang()),
        ({"answers": "empty"}, Wrong("empty")),
        ({"drop": 0.0}, Drop(0.0)),
        ({"hang": False, "drop": 5.0, "fails": None}, Drop(5.0)),
    ],
)
def test_a_word_is_an_effect(words: Effect, effect: What) -> None:
    """What is None, or a flag that is off, is not said."""
    assert fault("ListAndWatch", **words) == Fault("", "ListAndWatch", effect)


def test_a_rule_can_be_for_some_calls() -> None:
    """As in the fleet file."""
    asked = fault("Allocate", hang=True, resource="a.b/c", nth=2, times=3)
    assert asked == Fault("", "Allocate", Hang(), "a.b/c", nth=2, times=3)


@pytest.mark.parametrize(
    ("call", "words", "what"),
    [
        ("Allocate", {"drop": 0.0}, "Allocate has no stream that could be dropped"),
        ("Allocate", {"delay": 0.0}, "delay must be a whole number from 1 to 999999"),
        ("Allocate", {"hang": True, "nth": 0}, "nth must be a whole number from 1"),
        ("Allocate", {"hang": True, "code": "ABORTED"}, "it goes with fails"),
        ("Allocate", {"fails": "no", "code": "OK"}, "code must be one of CANCELLED, UNKNOWN"),
        ("Allocate", {"hang": True, "resource": "gpu"}, "resource needs a vendor domain"),
        ("Register", {"answers": "empty"}, "the answer to Register has no content"),
        ("Register", {"fails": ""}, "fails must be text"),
    ],
)
def test_a_rule_goes_by_the_plugins_rules(call: Call, words: Effect, what: str) -> None:
    """Before a node is asked."""
    with pytest.raises(UsageError, match=what):
        fault(call, **words)


@pytest.mark.parametrize(
    ("words", "seen"),
    [({}, "given: none"), ({"hang": True, "fails": "no"}, "given: fails, hang")],
)
def test_one_thing_befalls_a_call(words: Effect, seen: str) -> None:
    """None would be no rule, and of two the order would count."""
    with pytest.raises(GiveOne) as raised:
        fault("Allocate", **words)
    error = raised.value
    assert error.what == "give one of fails, delay, hang, answers and drop"
    assert (error.seen, error.words[0]) == (seen, "fails")


@pytest.mark.parametrize(
    ("reason", "broken"),
    [
        ({}, Breakage()),
        ({"xid": None}, Breakage()),
        ({"xid": 79}, Breakage("xid", "79")),
        ({"ecc": "double-bit"}, Breakage("ecc", "double-bit")),
        ({"code": "80e01801"}, Breakage("fault-code", "80E01801")),
    ],
)
def test_a_card_breaks_for_a_reason_or_none(reason: Reason, broken: Breakage) -> None:
    """In the words of its vendor."""
    assert breakage(**reason) == broken


@pytest.mark.parametrize(
    ("reason", "what"),
    [
        ({"xid": 79, "code": "80E01801"}, "give one of xid, ecc and code"),
        ({"xid": 0}, "xid must be a whole number from 1"),
        ({"ecc": "triple-bit"}, "ecc must be one of single-bit, double-bit"),
        ({"code": "80"}, "code must be eight hexadecimal digits"),
        (cast("Reason", {"xdi": 79}), "xdi is not something that this plugin acts on"),
    ],
)
def test_a_reason_that_is_none_is_refused(reason: Reason, what: str) -> None:
    """With the rule that it breaks."""
    with pytest.raises(UsageError, match=what):
        breakage(**reason)


@pytest.mark.parametrize(
    ("change", "body"),
    [
        (HealthChange(("a", "b"), "healthy"), {"devices": ["a", "b"], "becomes": "healthy"}),
        (HealthChange(None, "healthy"), {"all": True, "becomes": "healthy"}),
        (
            HealthChange(("a",), "unhealthy", Breakage("xid", "79")),
            {"devices": ["a"], "becomes": "unhealthy", "xid": 79},
        ),
        (
            HealthChange(("a",), "toggled", Breakage("ecc", "single-bit"), times=10, every=0.1),
            {
                "devices": ["a"],
                "becomes": "toggled",
                "ecc": "single-bit",
                "times": 10,
                "every": "100ms",
            },
        ),
    ],
)
def test_a_change_of_health_is_a_body(change: HealthChange, body: dict[str, object]) -> None:
    """With no key for what is not said."""
    assert change.body() == body


@pytest.mark.parametrize(("text", "time"), [("500ms", 0.5), ("0s", 0.0), ("2m", 120.0)])
def test_a_time_is_read_as_in_the_fleet_file(text: str, time: float) -> None:
    """In seconds."""
    assert seconds(text) == time


@pytest.mark.parametrize("text", ["", "5", "soon", "1.5s", "-1s"])
def test_what_is_no_time_is_refused(text: str) -> None:
    """It is named by itself: which option has it, others know."""
    with pytest.raises(UsageError) as raised:
        seconds(text)
    rule = "must be a whole number from 0 to 999999, then ms, s, m or h"
    assert raised.value.what == f"{text!r} {rule}"
