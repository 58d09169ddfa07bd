"""POST /v1/health: hardware breaks and mends."""

from http import HTTPStatus
from typing import Final

from fake_plugin.control import names
from fake_plugin.control.body import Body
from fake_plugin.control.exchange import Json
from fake_plugin.control.node import Node, written
from fake_plugin.control.refusal import Refusal
from fake_plugin.fleet.script import read_breakage
from fake_plugin.hardware.breakage import BECOMES, Becomes, Breakage, misfit
from fake_plugin.hardware.script import Turn
from fake_plugin.shortening import few

_TARGETS: Final = ("units", "devices", "cards", "all")
_KEYS: Final = (*_TARGETS, "resource", "pool", "becomes", "xid", "ecc", "code", "times", "every")
_MOST_TIMES: Final = 10_000
_MOST_SECONDS: Final = 3600.0
_LEAST_SECONDS: Final = 0.01
#: One can name 20 000 devices, and the memory that they take is the plugin's.
MOST_FLAPS: Final = 64


def change(node: Node, body: Body) -> Json:
    """Break or mend what is named; `times` and `every` make a flap of it, which goes on here."""
    body.only(*_KEYS)
    becomes = body.choice("becomes", BECOMES)
    breakage = read_breakage(body)
    found = _targets(node, body)
    for unit, vendor in found.items():
        if reason := misfit(breakage, vendor):
            raise Refusal(
                HTTPStatus.BAD_REQUEST,
                f"{unit} cannot break so: {reason}",
                seen=str(breakage),
                remedy="leave the reason out, or name other devices; nothing was changed",
            )
    if turn := _flap(body, tuple(found), becomes, breakage):
        _add(node, turn)
    else:
        with written("the state of the hardware"):
            node.inventory.board.change_units(found, becomes, breakage)
    return {
        "count": len(found),
        "units": few(found),
        "becomes": becomes,
        "breakage": None if becomes == "healthy" else str(breakage),
        "ignored": becomes != "healthy"
        and all(node.inventory.board.ignores(unit, breakage) for unit in found),
        "sticky": any(node.inventory.board.is_sticky(unit) for unit in found),
    }


def _targets(node: Node, body: Body) -> names.Units:
    target = body.one_of(*_TARGETS)
    resources = names.resources(
        node.inventory, body.optional_text("resource"), body.optional_text("pool")
    )
    if target == "all":
        if not body.flag("all"):
            body.refuse("all", "must be true, or left out for the names of devices")
        return names.every_unit(resources)
    named = body.texts(target)
    if not named:
        body.refuse(target, "must name something")
    finding = names.cards if target == "cards" else names.units
    return finding(node.inventory, resources, named)


def _flap(body: Body, units: tuple[str, ...], becomes: Becomes, breakage: Breakage) -> Turn | None:
    if "times" not in body.values and "every" not in body.values:
        return None
    if becomes != "toggled":
        body.refuse("becomes", "must be toggled where it happens several times")
    times, every = body.number("times", least=1, most=_MOST_TIMES), body.duration("every")
    if every < _LEAST_SECONDS or times * every > _MOST_SECONDS:
        body.refuse(
            "every", f"must be {_LEAST_SECONDS:g} s or more, and {_MOST_SECONDS:g} s in all at most"
        )
    return Turn(units, becomes, breakage, after=0.0, every=every, times=times)


def _add(node: Node, turn: Turn) -> None:
    # Those without a number of times are the fleet's script, which has its own measure.
    if sum(each.times is not None for each in node.script.turns()) >= MOST_FLAPS:
        raise Refusal(
            HTTPStatus.CONFLICT,
            f"there are {MOST_FLAPS} flaps already",
            remedy="wait until one has ended, or end them all with POST /v1/clear; "
            "nothing was changed",
        )
    node.script.add(turn)
