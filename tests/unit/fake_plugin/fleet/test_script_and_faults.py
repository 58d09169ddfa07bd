"""The health script and the faults of the fleet file, as one node reads them."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from fake_plugin.faults.fault import MOST_CHARACTERS, Delay, Drop, Effect, Fail, Fault, Hang, Wrong
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plan import Flap, Plan
from tests.unit.fake_plugin.fleet.conftest import MODELS

FLAP = {"at": "30s", "node": "a-0", "device": 1, "becomes": "unhealthy"}


def flap(
    seconds: float,
    becomes: Literal["healthy", "unhealthy", "toggled"],
    breakage: Breakage,
    *,
    repeats: bool = False,
) -> Flap:
    """Return a flap of the card that the entry above is about."""
    return Flap("a", 1, seconds, repeats, becomes, breakage)


@pytest.mark.parametrize(
    ("vendor", "keys", "expected"),
    [
        ("nvidia", {}, flap(30, "unhealthy", Breakage())),
        ("nvidia", {"xid": 79}, flap(30, "unhealthy", Breakage("xid", "79"))),
        (
            "amd",
            {"ecc": "double-bit", "becomes": "toggled"},
            flap(30, "toggled", Breakage("ecc", "double-bit")),
        ),
        (
            "ascend",
            {"code": "80e01801"},
            flap(30, "unhealthy", Breakage("fault-code", "80E01801")),
        ),
        ("nvidia", {"becomes": "healthy"}, flap(30, "healthy", Breakage())),
        (
            "nvidia",
            {"at": None, "every": "500ms"},
            flap(0.5, "unhealthy", Breakage(), repeats=True),
        ),
        ("nvidia", {"at": "2m"}, flap(120, "unhealthy", Breakage())),
        ("nvidia", {"at": "1h"}, flap(3600, "unhealthy", Breakage())),
    ],
    ids=str,
)
def test_a_flap_is_read(
    plan_of: Callable[..., Plan], vendor: str, keys: dict[str, Any], expected: Flap
) -> None:
    """When it happens, to which card of the pool, and why."""
    entry = {key: value for key, value in (FLAP | keys).items() if value is not None}
    top = {"health": {"script": [entry]}}
    assert plan_of(top, accelerator=MODELS[vendor]).script == (expected,)


def test_a_node_reads_its_own_flaps_and_faults(plan_of: Callable[..., Plan]) -> None:
    """A fault keeps its number in the file, and one without a node is for all."""
    faults = [{"call": "Allocate", "hang": True, "node": node} for node in ("a-1", "a-0")]
    faults.append({"call": "Register", "hang": True})
    script = [FLAP | {"node": node, "device": at} for at, node in enumerate(("a-1", "a-0"))]
    top = {"faults": faults, "health": {"script": script}}
    plan = plan_of(top, nodes=2)
    assert [fault.id for fault in plan.faults] == ["fleet-2", "fleet-3"]
    assert [flap.device for flap in plan.script] == [1]


@pytest.mark.parametrize(
    ("keys", "sticky"),
    [({}, None), ({"healthPolicy": "sticky"}, True), ({"healthPolicy": "recovers"}, False)],
    ids=str,
)
def test_a_pool_has_a_policy_of_its_own(
    plan_of: Callable[..., Plan],
    keys: dict[str, str],
    sticky: bool | None,  # noqa: FBT001 - a column of the table
) -> None:
    """Without one it has that of the fleet."""
    (share,) = plan_of({"health": {"policy": "sticky"}}, **keys).shares
    assert share.sticky is sticky


@pytest.mark.parametrize(("policy", "sticky"), [("sticky", True), ("recovers", False)])
def test_the_policy_is_read(plan_of: Callable[..., Plan], policy: str, *, sticky: bool) -> None:
    """Whether what was unhealthy once stays so."""
    assert plan_of({"health": {"policy": policy}}).sticky is sticky


@pytest.mark.parametrize(
    ("call", "keys", "effect"),
    [
        ("Allocate", {"fails": "busy"}, Fail("busy", "UNKNOWN")),
        ("Allocate", {"fails": "é" * MOST_CHARACTERS}, Fail("é" * MOST_CHARACTERS)),
        ("Allocate", {"fails": "busy", "code": "UNAVAILABLE"}, Fail("busy", "UNAVAILABLE")),
        ("Register", {"delay": "5s"}, Delay(5)),
        ("PreStartContainer", {"hang": True}, Hang()),
        ("GetPreferredAllocation", {"answers": "too-many"}, Wrong("too-many")),
        ("ListAndWatch", {"drop": "0s"}, Drop(0)),
        ("ListAndWatch", {"drop": "1500ms"}, Drop(1.5)),
    ],
    ids=str,
)
def test_a_fault_is_read(
    plan_of: Callable[..., Plan], call: str, keys: dict[str, Any], effect: Effect
) -> None:
    """Each effect by its key, for the call that it fits."""
    (fault,) = plan_of({"faults": [{"call": call, **keys}]}).faults
    assert (fault.call, fault.effect) == (call, effect)


def test_a_fault_is_for_some_calls_of_a_resource(plan_of: Callable[..., Plan]) -> None:
    """Which resource, which call, and how many from there."""
    keys = {"resource": "a.com/x", "nth": 2, "times": 3}
    plan = plan_of({"faults": [{"call": "Allocate", "hang": True, **keys}]})
    assert plan.faults == (Fault("fleet-1", "Allocate", Hang(), "a.com/x", 2, 3),)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"at": None}, "health.script[0] needs exactly one of at, every"),
        ({"every": "1s"}, "health.script[0] needs exactly one of at, every"),
        ({"at": 30}, "health.script[0].at must be a whole number from 1 to 999999, then ms"),
        ({"at": "0s"}, "health.script[0].at must be a whole number from 1 to 999999, then ms"),
        ({"at": "1000000s"}, "health.script[0].at must be a whole number from 1 to 999999"),
        ({"node": "a-1"}, "health.script[0].node must be a node of a pool, as <pool>-<index>"),
        ({"node": "b-0"}, "health.script[0].node must be a node of a pool, as <pool>-<index>"),
        ({"device": 2}, "health.script[0].device must be below 2, the number of devices of a-0"),
        ({"becomes": "sick"}, "health.script[0].becomes must be one of healthy, unhealthy, togg"),
        ({"xid": 79, "ecc": "single-bit"}, "health.script[0] needs exactly one of xid, ecc, code"),
        ({"xid": 0}, "health.script[0].xid must be a whole number from 1"),
        ({"xid": 1, "becomes": "healthy"}, "health.script[0].xid says why a card breaks"),
        ({"code": "80E01801"}, "health.script[0].node does not fit: nvidia cards have no fault-co"),
        ({"ecc": "triple-bit"}, "health.script[0].ecc must be one of single-bit, double-bit"),
        ({"code": "xyz"}, "health.script[0].code must be eight hexadecimal digits"),
        ({"when": "now"}, "health.script[0].when is not something that this plugin acts on"),
    ],
    ids=str,
)
def test_a_flap_that_cannot_be_is_refused(
    refusal_of: Callable[..., str], keys: dict[str, Any], text: str
) -> None:
    """Also where it is for another node, so that all nodes judge a file alike."""
    entry = {key: value for key, value in (FLAP | keys).items() if value is not None}
    assert refusal_of(top={"health": {"script": [entry]}}, node="elsewhere").startswith(text)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"call": "Allocate"}, "faults[0] needs exactly one of fails, delay, hang, answers, drop"),
        (
            {"call": "Allocate", "fails": "x", "hang": True},
            "faults[0] needs exactly one of fails, delay, hang, answers, drop",
        ),
        ({"call": "Allocated", "hang": True}, "faults[0].call must be one of Register, GetDevi"),
        ({"call": "Allocate", "hang": False}, "faults[0].hang must be true"),
        ({"call": "Allocate", "drop": "1s"}, "faults[0].call does not fit: Allocate has no stre"),
        ({"call": "Register", "answers": "empty"}, "faults[0].call does not fit: the answer to "),
        (
            {"call": "Allocate", "fails": "é" * (MOST_CHARACTERS + 1)},
            "faults[0].fails must have 512 characters or less",
        ),
        ({"call": "Allocate", "fails": "x", "code": "OK"}, "faults[0].code must be one of CANCE"),
        ({"call": "Allocate", "hang": True, "code": "ABORTED"}, "faults[0].code is the code of a"),
        ({"call": "Allocate", "hang": True, "nth": 0}, "faults[0].nth must be a whole number fr"),
        ({"call": "Allocate", "hang": True, "node": "a-1"}, "faults[0].node must be a node of a"),
        ({"call": "Allocate", "hang": True, "resource": "gpu"}, "faults[0].resource needs a ven"),
        ({"call": "Allocate", "answers": "nicely"}, "faults[0].answers must be one of empty, un"),
    ],
    ids=str,
)
def test_a_fault_that_cannot_be_is_refused(
    refusal_of: Callable[..., str], fault: dict[str, Any], text: str
) -> None:
    """A fault that could never happen teaches the wrong lesson."""
    assert refusal_of(top={"faults": [fault]}).startswith(text)
