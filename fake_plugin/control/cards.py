"""POST /v1/cards: cards are taken out of the node, put back, and added."""

from dataclasses import replace
from http import HTTPStatus
from typing import Final

from fake_plugin.control import names
from fake_plugin.control.body import Body
from fake_plugin.control.exchange import Json
from fake_plugin.control.node import Node, written
from fake_plugin.control.refusal import Refusal
from fake_plugin.errors import WrongUse
from fake_plugin.resources.list_size import refuse_too_long
from fake_plugin.shortening import few

_KEYS: Final = ("unplug", "plug", "add")
_STATE: Final = "the state of the hardware"
_MOST: Final = 100_000


def change(node: Node, body: Body) -> Json:
    """Do one of the three."""
    body.only(*_KEYS, "pool")
    match body.one_of(*_KEYS):
        case "unplug":
            return _unplug(node, body)
        case "plug":
            return _plug(node, body)
        case _:
            return _add(node, body)


def _unplug(node: Node, body: Body) -> Json:
    resources = names.resources(node.inventory, None, body.optional_text("pool"))
    found = names.cards(node.inventory, resources, _names(body, "unplug"))
    with written(_STATE):
        node.inventory.board.unplug(found)
    return {"count": len(found), "cards": few(found)}


def _plug(node: Node, body: Body) -> Json:
    pool = body.optional_text("pool")
    found = names.unplugged_units(node.inventory, pool, _names(body, "plug"))
    with written(_STATE):
        node.inventory.board.plug(found)
    return {"count": len(found), "cards": few(found)}


def _add(node: Node, body: Body) -> Json:
    added = body.of(body.file, "add", body.values["add"])
    added.only("pool", "count")
    pool, count = added.text("pool"), added.number("count", least=1, most=_MOST)
    names.require_pool(node.inventory, pool)
    before = node.inventory.board.state.added.get(pool, 0)
    for share in node.inventory.plan.shares:
        if share.pool == pool:
            try:
                refuse_too_long(
                    node.inventory.node, replace(share, count=share.count + before + count)
                )
            except WrongUse as problem:
                raise Refusal(
                    HTTPStatus.CONFLICT,
                    problem.what,
                    where=problem.where,
                    seen=problem.seen,
                    remedy="add fewer; nothing was changed",
                ) from problem
    with written(_STATE):
        node.inventory.board.add(pool, count)
    return {"count": count, "pool": pool}


def _names(body: Body, key: str) -> tuple[str, ...]:
    named = body.texts(key)
    if not named:
        body.refuse(key, "must name something")
    return named
