"""GET /v1/node: everything of a node, in pieces, as nobody keeps 20 000 devices as text."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from fake_plugin import __version__
from fake_plugin.control.exchange import Answer, Json, line
from fake_plugin.control.faults import duration
from fake_plugin.control.names import unplugged
from fake_plugin.control.node import Node
from fake_plugin.device import Device
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.script import Turn
from fake_plugin.log import milliseconds_since_start
from fake_plugin.plan import Plan
from fake_plugin.resources.resource import Resource
from fake_plugin.shortening import few

_PIECE: Final = 200


def view(node: Node) -> Answer:
    """Return the node, its resources with their devices, and what is out of the ordinary."""
    return Answer(_pieces(node))


def _pieces(node: Node) -> Iterator[bytes]:
    yield line(_facts(node))[:-1] + b', "resources": ['
    for number, resource in enumerate(node.inventory.resources):
        yield b", " * bool(number) + line(_resource(node, resource))[:-1] + b', "devices": ['
        yield from _devices(resource, node.inventory.board)
        yield b"]}"
    yield b"]}\n"


def _facts(node: Node) -> dict[str, Json]:
    inventory = node.inventory
    gone = unplugged(inventory, None).values()
    return {
        "node": inventory.node,
        "version": __version__,
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "uptimeSeconds": milliseconds_since_start() / 1000,
        "ready": node.readiness.is_ready,
        "policy": _policy(inventory.plan),
        "unplugged": [{"card": card.uid, "pool": card.pool, "index": card.index} for card in gone],
        "added": dict(inventory.board.state.added),
        "flaps": [_turn(each) for each in node.script.turns()],
        "problems": [
            f"the file of the hardware's state made no sense: it is now {aside}"
            for aside in [inventory.set_aside]
            if aside
        ],
    }


def _policy(plan: Plan) -> str:
    policies = {plan.is_sticky(share) for share in plan.shares} or {plan.sticky}
    return "mixed" if len(policies) > 1 else "sticky" if policies == {True} else "recovers"


def _resource(node: Node, resource: Resource) -> dict[str, Json]:
    return {
        "name": resource.name,
        "pool": resource.offer.pool,
        "registered": node.readiness.is_watched(resource.name),
        "count": len(resource.devices),
        "healthy": sum(resource.is_healthy(device) for device in resource.devices),
    }


def _devices(resource: Resource, board: Board) -> Iterator[bytes]:
    devices = iter(resource.devices)
    separator = b""
    while piece := [_device(each, resource, board) for each in islice(devices, _PIECE)]:
        yield separator + line(piece)[1:-1]
        separator = b", "


def _device(device: Device, resource: Resource, board: Board) -> Json:
    breakage = board.breakage(device.unit, device.card.uid)
    return {
        "id": device.id,
        "unit": device.unit,
        "card": device.card.uid,
        "index": device.card.index,
        "pool": device.card.pool,
        "healthy": resource.is_healthy(device),
        "breakage": str(breakage) if breakage else None,
        "resets": board.state.resets.get(device.unit, 0),
        "numa": device.numa,
        "partition": device.partition.index if device.partition else None,
        "replica": device.replica,
    }


def _turn(turn: Turn) -> Json:
    return {
        "units": few(turn.units),
        "becomes": turn.becomes,
        "breakage": str(turn.breakage),
        "every": None if turn.every is None else duration(turn.every),
        "left": turn.times,
    }
