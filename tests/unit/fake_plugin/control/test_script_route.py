"""Hardware that breaks and mends by the clock, as told over the API."""

from typing import Any

import pytest

from fake_plugin.control.node import Node
from fake_plugin.control.script import MOST_STEPS
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from tests.unit.fake_plugin.control.conftest import Call, broken
from tests.unit.waiting import wait_until

STEP = {"at": "1h", "node": "nvidia-0", "device": 1, "becomes": "unhealthy", "xid": 79}


def test_steps_come_at_their_times(call: Call, node: Node) -> None:
    """In the words of the fleet file, and counted from the call."""
    every = {"every": "2h", "node": "plain-0", "device": 0, "becomes": "toggled"}
    told = call("POST", "/v1/script", {"script": [STEP, every]})
    assert (told.status, told.body) == (200, {"steps": 2})
    gpus, plain = (resource.devices for resource in node.inventory.resources)
    assert node.script.turns() == (
        Turn((gpus[1].card.uid,), "unhealthy", Breakage("xid", "79"), 3600.0),
        Turn((plain[0].card.uid,), "toggled", Breakage(), 7200.0, 7200.0),
    )


def test_hardware_breaks_and_is_cleared(call: Call, node: Node) -> None:
    """What is still to come is forgotten with it."""
    call("POST", "/v1/script", {"script": [STEP | {"at": "1ms"}, STEP]})
    wait_until("the GPU breaks", lambda: broken(node) == {"nvidia/1": "xid 79"})
    assert call("POST", "/v1/clear").body["flaps"] == 1
    assert (broken(node), node.script.turns()) == ({}, ())


@pytest.mark.parametrize(
    ("step", "what"),
    [
        ({"at": "soon"}, "script[1].at must be a whole number from 1 to 999999"),
        ({"every": "1s"}, "script[1] needs exactly one of at, every"),
        ({"node": "nvidia-1"}, "script[1].node must be nvidia-0 or plain-0"),
        ({"device": 3}, "script[1].device must be below 3, the number of devices of nvidia-0"),
        ({"xid": 79, "node": "plain-0"}, "script[1].node does not fit: devices without a vendor"),
        ({"becomes": "healthy"}, "script[1].xid says why a card breaks"),
        ({"times": 2}, "script[1].times is not something that this plugin acts on"),
    ],
)
def test_a_step_that_is_wrong_lets_none_come(
    call: Call, node: Node, step: dict[str, Any], what: str
) -> None:
    """In the words by which a fleet file is refused."""
    told = call("POST", "/v1/script", {"script": [STEP, STEP | step]})
    assert told.status == 400
    assert told.what.startswith(what)
    assert node.script.turns() == ()


@pytest.mark.parametrize("script", [[], {}, None, ["1s"]])
def test_no_script_is_refused(call: Call, script: object) -> None:
    """It would look like one that was played."""
    told = call("POST", "/v1/script", {"script": script})
    assert (told.status, told.what.split(" must")[0].split("[")[0]) == (400, "script")


def test_steps_have_a_number(call: Call, node: Node) -> None:
    """One call after the other, too: what is to come is kept in memory."""
    for _ in range(4):
        assert call("POST", "/v1/script", {"script": [STEP] * (MOST_STEPS // 4)}).status == 200
    told = call("POST", "/v1/script", {"script": [STEP]})
    assert (told.status, told.body["error"]["seen"]) == (
        409,
        f"{MOST_STEPS} are to come, and 1 were given",
    )
    assert len(node.script.turns()) == MOST_STEPS
