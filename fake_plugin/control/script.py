"""POST /v1/script: hardware breaks and mends by the clock, as by the script of the fleet file."""

from http import HTTPStatus
from typing import Final

from fake_plugin.control.body import Body
from fake_plugin.control.exchange import Json
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.fleet.script import read_flap, require_fit
from fake_plugin.plan import Flap
from fake_plugin.resources.turns import turns

#: What one node may have to come, with what its fleet has.
MOST_STEPS: Final = 1024


def play(node: Node, body: Body) -> Json:
    """Have the steps come, counted from now: all of them, or none where one is wrong."""
    body.only("script")
    steps = [_step(node, entry) for entry in body.mappings("script")]
    if len(steps) + len(node.script.turns()) > MOST_STEPS:
        raise Refusal(
            HTTPStatus.CONFLICT,
            f"there would be more than {MOST_STEPS} changes of health to come",
            seen=f"{len(node.script.turns())} are to come, and {len(steps)} were given",
            remedy="wait until some have come, or end them all with POST /v1/clear; "
            "nothing was changed",
        )
    for turn in turns(node.inventory, steps):
        node.script.add(turn)
    return {"steps": len(steps)}


def _step(node: Node, entry: Body) -> Flap:
    member, flap = read_flap(entry)
    shares = {share.member: share for share in node.inventory.plan.shares}
    if member not in shares:
        entry.refuse("node", f"must be {' or '.join(shares)}, as this node is called")
    require_fit(entry, flap, shares[member])
    return flap
