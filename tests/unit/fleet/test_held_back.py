"""Which devices a fleet's own faults hold back, and how that is told."""

from dataclasses import replace

import pytest

from fake_plugin.faults.fault import Call, Delay, Drop, Effect, Fail, Fault, Hang, Wrong
from lab.core.fleet import Fleet, Pool, held_back, holdings
from lab.core.fleet.model import NodeFault

GPU, NPU = "gpu.example.com/card", "npu.example.com/chip"
FAILS, HANGS = Fail("no"), Hang()
EMPTY, FEW = Wrong("empty"), Wrong("too-few")
MANY, UNKNOWN = Wrong("too-many"), Wrong("unknown-device")
#: `a-0` and `b-0` are one node, `a-1` is another.
POOLS = (
    Pool("a", 2, GPU, 2, node_names=("w1", "w2")),
    Pool("b", 1, NPU, 2, node_names=("w1",)),
)


def rule(call: Call, effect: Effect, nth: int | None = None, times: int | None = None) -> Fault:
    """Return a rule about the GPUs."""
    return Fault("fleet-1", call, effect, GPU, nth, times)


def fleet(*faults: Fault, member: str | None = "a-1") -> Fleet:
    """Return the fleet with these rules on one member, or on all."""
    return Fleet(POOLS, faults=tuple(NodeFault(member, each) for each in faults))


def found(held: Fleet) -> set[tuple[str, str]]:
    """Return what is held back: node and resource."""
    return {(each.node, each.resource) for each in held_back(held)}


@pytest.mark.parametrize(
    ("fault", "holds"),
    [
        (rule("Register", FAILS), True),
        (rule("Register", HANGS), True),
        (rule("Register", Delay(60)), False),
        (rule("GetDevicePluginOptions", FAILS), True),
        (rule("GetDevicePluginOptions", HANGS), True),
        (rule("GetDevicePluginOptions", EMPTY), False),
        (rule("ListAndWatch", FAILS), True),
        (rule("ListAndWatch", HANGS), True),
        (rule("ListAndWatch", Delay(1)), False),
        (rule("ListAndWatch", Drop(0)), True),
        (rule("ListAndWatch", Drop(30)), False),
        (rule("ListAndWatch", EMPTY), True),
        (rule("ListAndWatch", FEW), True),
        (rule("ListAndWatch", MANY), True),
        (rule("ListAndWatch", UNKNOWN), False),
        (rule("Allocate", FAILS), False),
        (rule("Allocate", HANGS), False),
        (rule("GetPreferredAllocation", EMPTY), False),
        (rule("PreStartContainer", FAILS), False),
        # What is tried again comes in the end.
        (rule("Register", FAILS, nth=1), False),
        (rule("Register", FAILS, times=3), False),
        (rule("GetDevicePluginOptions", FAILS, times=3), False),
        (rule("GetDevicePluginOptions", HANGS, nth=1), False),
        (rule("ListAndWatch", FAILS, times=2), False),
        (rule("ListAndWatch", Drop(0), nth=1), False),
        # What has no end is not tried again.
        (rule("Register", HANGS, nth=1), True),
        (rule("Register", HANGS, times=2), True),
        (rule("ListAndWatch", HANGS, nth=1), True),
        (rule("ListAndWatch", EMPTY, nth=1), True),
        (rule("ListAndWatch", UNKNOWN, nth=1), False),
        (rule("Register", HANGS, nth=2), False),
    ],
)
def test_a_rule_holds_back_or_does_not(fault: Fault, holds: bool) -> None:  # noqa: FBT001 - a column
    """What never gets a registration and the right number of devices is held back."""
    assert found(fleet(fault)) == ({("w2", GPU)} if holds else set())


@pytest.mark.parametrize(
    ("member", "resource", "held"),
    [
        (None, None, {("w1", GPU), ("w1", NPU), ("w2", GPU)}),
        (None, GPU, {("w1", GPU), ("w2", GPU)}),
        (None, NPU, {("w1", NPU)}),
        # One plugin serves the node, whatever the fleet calls it.
        ("b-0", None, {("w1", GPU), ("w1", NPU)}),
        ("b-0", GPU, {("w1", GPU)}),
        ("a-1", NPU, set()),
    ],
)
def test_a_rule_is_about_nodes_and_resources(
    member: str | None, resource: str | None, held: set[tuple[str, str]]
) -> None:
    """Others come, also on the same node."""
    fault = replace(rule("Register", FAILS), resource=resource)
    assert found(fleet(fault, member=member)) == held


def test_of_a_count_over_resources_nothing_is_claimed() -> None:
    """Whose call is the first, is chance; where there is one resource, it is that one's."""
    fault = replace(rule("Register", HANGS, nth=1), resource=None)
    assert found(fleet(fault, member=None)) == {("w2", GPU)}


@pytest.mark.parametrize(
    ("faults", "holds"),
    [
        ((rule("Register", Delay(1)), rule("Register", FAILS)), False),
        ((rule("Register", FAILS, nth=1), rule("Register", FAILS)), True),
        ((rule("Register", Delay(1)), rule("ListAndWatch", FAILS)), True),
    ],
)
def test_the_first_rule_for_all_calls_leaves_none_to_the_next(
    faults: tuple[Fault, ...],
    holds: bool,  # noqa: FBT001 - a column
) -> None:
    """As the plugin asks them."""
    assert bool(found(fleet(*faults))) is holds


@pytest.mark.parametrize(
    ("call", "effect", "does"),
    [
        ("Register", FAILS, "Register fails"),
        ("Register", HANGS, "Register hangs"),
        ("ListAndWatch", Drop(0), "ListAndWatch is dropped at once"),
        ("ListAndWatch", EMPTY, "ListAndWatch is answered wrongly: empty"),
    ],
)
def test_a_rule_is_told_once(call: Call, effect: Effect, does: str) -> None:
    """However many nodes it is about."""
    fault = replace(rule(call, effect), resource=None)
    (told,) = holdings(held_back(fleet(fault, member=None)))
    assert (told.rule, told.does) == ("fleet-1", does)
    assert told.what == f"{GPU} on w1, w2; {NPU} on w1"


def test_of_many_nodes_some_are_named() -> None:
    """A fleet may have thousands."""
    names = tuple(f"w{number}" for number in range(9))
    many = Fleet((Pool("a", 9, GPU, 1, node_names=names),))
    (told,) = holdings(held_back(replace(many, faults=(NodeFault(None, rule("Register", FAILS)),))))
    assert told.what == f"{GPU} on w0, w1, w2, w3, and 5 more"
