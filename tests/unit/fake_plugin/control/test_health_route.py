"""Hardware that is broken and mended over the API."""

from dataclasses import replace
from typing import Any

import pytest

from fake_plugin.control.health import MOST_FLAPS
from fake_plugin.control.node import Node
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from fake_plugin.plan import Plan
from tests.unit.fake_plugin.control.conftest import GPU, PLAIN, SHARES, Call, broken
from tests.unit.waiting import wait_until

UNHEALTHY = {"becomes": "unhealthy"}


def healthy(node: Node) -> list[int]:
    """Return how many devices of each resource the kubelet is told of as healthy."""
    return [
        sum(resource.is_healthy(device) for device in resource.devices)
        for resource in node.inventory.resources
    ]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"devices": ["nvidia/2"]}, ["nvidia/2"]),
        ({"devices": ["nvidia/0", "plain/1"]}, ["nvidia/0", "plain/1"]),
        ({"cards": ["nvidia/1"]}, ["nvidia/1"]),
        ({"all": True, "pool": "plain"}, ["plain/0", "plain/1"]),
        ({"all": True, "resource": GPU}, ["nvidia/0", "nvidia/1", "nvidia/2"]),
    ],
)
def test_what_is_named_breaks(
    call: Call, node: Node, target: dict[str, Any], expected: list[str]
) -> None:
    """By pool and index, by resource, or all of it."""
    told = call("POST", "/v1/health", target | UNHEALTHY)
    assert (told.status, told.body["count"]) == (200, len(expected))
    assert broken(node) == dict.fromkeys(expected, "unspecified")


def test_ids_and_units_are_names_too(call: Call, node: Node) -> None:
    """As the kubelet, the log and nvidia-smi show them."""
    first, second, _ = (device.id for device in node.inventory.resources[0].devices)
    told = call("POST", "/v1/health", {"devices": [first], "becomes": "unhealthy", "xid": 79})
    assert told.body == {
        "count": 1,
        "units": [first],
        "becomes": "unhealthy",
        "breakage": "xid 79",
        "ignored": False,
        "sticky": False,
    }
    call("POST", "/v1/health", {"units": [second]} | UNHEALTHY)
    assert broken(node) == {"nvidia/0": "xid 79", "nvidia/1": "unspecified"}
    assert healthy(node) == [1, 2]


def test_what_is_broken_is_mended_and_toggled(call: Call, node: Node) -> None:
    """A mended device is healthy at once."""
    call("POST", "/v1/health", {"all": True} | UNHEALTHY)
    assert (
        call("POST", "/v1/health", {"all": True, "pool": "plain", "becomes": "healthy"}).body[
            "breakage"
        ]
        is None
    )
    assert healthy(node) == [0, 2]
    call(
        "POST",
        "/v1/health",
        {"all": True, "becomes": "toggled", "ecc": "double-bit"} | {"pool": "nvidia"},
    )
    assert healthy(node) == [3, 2]


def test_an_xid_that_the_vendor_ignores_is_told(call: Call, node: Node) -> None:
    """It is there, and the device stays healthy: NVIDIA's plugin does not count it."""
    told = call("POST", "/v1/health", {"devices": ["nvidia/0"], "xid": 13} | UNHEALTHY)
    assert told.body["ignored"]
    assert (broken(node), healthy(node)) == ({"nvidia/0": "xid 13"}, [3, 2])


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        ({"devices": ["nvidia/9"]}, 404, "this node has no device 'nvidia/9'"),
        ({"devices": ["nvidia/0", "x", "y"]}, 404, "this node has no device 'x', 'y'"),
        ({"devices": ["0"]}, 404, "this node has no device '0'"),
        ({"devices": ["nvidia/0"], "pool": "plain"}, 404, "this node has no device 'nvidia/0'"),
        ({"all": True, "pool": "amd"}, 404, "this node has no pool 'amd'"),
        ({"all": True, "resource": "amd.com/gpu"}, 404, "this node has no resource 'amd.com/gpu'"),
        ({"all": True, "xid": 79}, 400, "devices without a vendor have no xid: that is for nvidia"),
        ({"cards": ["nvidia/0"], "code": "80E01801"}, 400, "nvidia cards have no fault-code"),
        ({"cards": ["nvidia/0"], "code": "80"}, 400, "code must be eight hexadecimal digits"),
        ({"cards": ["nvidia/0"], "xid": -1}, 400, "xid must be a whole number from 1"),
        ({"cards": ["nvidia/0"], "ecc": "x"}, 400, "ecc must be one of single-bit, double-bit"),
        ({"cards": ["nvidia/0"], "ecc": "double-bit", "xid": 1}, 400, "the body needs exactly one"),
        ({"cards": ["nvidia/0"], "all": True}, 400, "the body needs exactly one of units, devices"),
        ({}, 400, "the body needs exactly one of units, devices, cards, all"),
        ({"all": False}, 400, "all must be true, or left out"),
        ({"cards": []}, 400, "cards must name something"),
        ({"cards": ["a", "a"]}, 400, "cards must not name anything twice"),
        ({"cards": "nvidia/0"}, 400, "cards must be a list of names"),
        ({"all": True, "Xid": 79}, 400, "Xid is not something that this plugin acts on"),
        ({"all": True, "times": 3, "every": "1s"}, 400, "becomes must be toggled"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_changes(
    call: Call, node: Node, body: dict[str, Any], status: int, what: str
) -> None:
    """Of a call, all is checked before any of it is done."""
    told = call("POST", "/v1/health", body | UNHEALTHY)
    assert told.status == status
    assert what in told.what
    assert told.body["error"]["remedy"]
    assert broken(node) == {}


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"becomes": "ill"}, "becomes must be one of healthy, unhealthy, toggled"),
        ({}, "becomes is missing"),
        ({"becomes": "healthy", "xid": 79}, "xid says why a card breaks"),
        ({"becomes": "toggled", "times": 3}, "every is missing"),
        ({"becomes": "toggled", "every": "1s"}, "times is missing"),
        ({"becomes": "toggled", "every": "1s", "times": 0}, "times must be a whole number from 1"),
        ({"becomes": "toggled", "every": "1ms", "times": 2}, "every must be 0.01 s or more"),
        ({"becomes": "toggled", "every": "1h", "times": 2}, "and 3600 s in all at most"),
    ],
)
def test_what_becomes_of_it_has_to_make_sense(
    call: Call, node: Node, body: dict[str, Any], what: str
) -> None:
    """As in the fleet's script; a flap has an end."""
    told = call("POST", "/v1/health", {"cards": ["nvidia/0"]} | body)
    assert (told.status, what in told.what) == (400, True)
    assert (broken(node), node.script.turns()) == ({}, ())


def test_a_flap_goes_on_by_itself(call: Call, node: Node) -> None:
    """It ends after as many changes as were asked for."""
    changes: list[bool] = []
    node.inventory.board.listen(lambda: changes.append("nvidia/0" in broken(node)))
    flap = {"cards": ["nvidia/0"], "becomes": "toggled", "every": "10ms", "times": 4}
    assert call("POST", "/v1/health", flap).status == 200
    wait_until("four changes", lambda: len(changes) == 4)
    assert changes == [True, False] * 2
    wait_until("the end", lambda: node.script.turns() == ())


def test_there_are_only_so_many_flaps(call: Call, node: Node) -> None:
    """One more is refused, and those that are there go on; the fleet's script does not count."""
    forever = Turn(("x",), "toggled", Breakage(), after=3600.0, every=3600.0)
    node.script.add(forever)
    for _ in range(MOST_FLAPS):
        node.script.add(replace(forever, times=2))
    flap = {"cards": ["nvidia/0"], "becomes": "toggled", "every": "10ms", "times": 4}
    told = call("POST", "/v1/health", flap)
    assert (told.status, told.what) == (409, "there are 64 flaps already")
    assert (len(node.script.turns()), broken(node)) == (MOST_FLAPS + 1, {})
    assert call("POST", "/v1/clear").body["flaps"] == MOST_FLAPS + 1
    assert call("POST", "/v1/health", flap).status == 200


def test_the_fleets_script_takes_no_flaps_place(call: Call, node: Node) -> None:
    """However much it is that happens by itself."""
    for _ in range(MOST_FLAPS):
        node.script.add(Turn(("x",), "healthy", Breakage(), after=3600.0))
    flap = {"cards": ["nvidia/0"], "becomes": "toggled", "every": "10ms", "times": 4}
    assert call("POST", "/v1/health", flap).status == 200


def test_a_state_that_cannot_be_written_has_not_changed(
    call: Call, node: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's own words are part of the answer."""

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr("fake_plugin.hardware.state.StateFile.save", full)
    told = call("POST", "/v1/health", {"all": True} | UNHEALTHY)
    assert (told.status, told.body["error"]["seen"]) == (507, "no space left on device")
    assert healthy(node) == [3, 2]


class TestSticky:
    """A node whose plugin never takes back what it said."""

    @pytest.fixture
    def plan(self) -> Plan:
        """Return the same fleet with NVIDIA's policy."""
        return Plan(SHARES, sticky=True)

    def test_the_policy_is_told(self, call: Call, node: Node) -> None:
        """Or a device that was mended and is unhealthy would look like a mistake."""
        call("POST", "/v1/health", {"cards": ["nvidia/0"]} | UNHEALTHY)
        told = call("POST", "/v1/health", {"cards": ["nvidia/0"], "becomes": "healthy"})
        assert (told.body["sticky"], broken(node), healthy(node)) == (True, {}, [2, 2])


class TestMixedPolicies:
    """A node of which one pool alone is sticky."""

    @pytest.fixture
    def plan(self) -> Plan:
        """Return the same fleet with NVIDIA's policy for NVIDIA's cards."""
        return Plan((replace(SHARES[0], sticky=True), *SHARES[1:]))

    @pytest.mark.parametrize(("card", "sticky"), [("nvidia/0", True), ("plain/0", False)])
    def test_the_policy_is_that_of_the_pool(self, call: Call, card: str, *, sticky: bool) -> None:
        """And the node says that it has two."""
        told = call("POST", "/v1/health", {"cards": [card], "becomes": "healthy"})
        assert told.body["sticky"] is sticky
        assert call("GET", "/v1/node").body["policy"] == "mixed"
        assert call("POST", "/v1/clear").body["sticky"] is True


def test_a_name_for_two_things_is_refused(call: Call, node: Node) -> None:
    """Which of them is meant can be told by the resource."""
    devices = node.inventory.resources[0].devices
    object.__setattr__(devices[0], "id", "twin")
    object.__setattr__(node.inventory.resources[1].devices[0], "id", "twin")
    told = call("POST", "/v1/health", {"devices": ["twin"]} | UNHEALTHY)
    assert (told.status, told.what) == (409, "device 'twin' could be either of two")
    assert broken(node) == {}
    call("POST", "/v1/health", {"devices": ["twin"], "resource": PLAIN} | UNHEALTHY)
    assert broken(node) == {"plain/0": "unspecified"}


class TestOnePool:
    """A node of a single pool, as most are."""

    @pytest.fixture
    def plan(self) -> Plan:
        """Return a fleet of one pool."""
        return Plan(SHARES[:1])

    def test_the_number_is_enough(self, call: Call, node: Node) -> None:
        """There is but one card with it."""
        call("POST", "/v1/health", {"devices": ["2"]} | UNHEALTHY)
        assert broken(node) == {"nvidia/2": "unspecified"}
