"""/v1/faults: rules by which calls of the kubelet go wrong. A rule reads as in the fleet file."""

from dataclasses import asdict
from http import HTTPStatus
from typing import Final

from fake_plugin.control import names
from fake_plugin.control.body import Body
from fake_plugin.control.exchange import Json
from fake_plugin.control.node import Node
from fake_plugin.control.refusal import Refusal
from fake_plugin.faults.book import Entry
from fake_plugin.faults.wording import worded
from fake_plugin.fleet.faults import read_fault
from fake_plugin.shortening import cut

#: Each call is asked about each rule, and the memory that they take is the plugin's.
MOST_RULES: Final = 256


def add(node: Node, body: Body) -> Json:
    """Make a rule, and return it with its ID."""
    if "node" in body.values:
        body.refuse("node", "is for the fleet file: here it is the node that is called")
    _, fault = read_fault(body, 0)
    if fault.resource is not None:
        names.require_resource(node.inventory, fault.resource)
    if len(node.switchboard.book.entries()) >= MOST_RULES:
        raise Refusal(
            HTTPStatus.CONFLICT,
            f"there are {MOST_RULES} rules already",
            remedy="remove some first; nothing was changed",
        )
    book = node.switchboard.book
    return _shown(Entry(book.add(fault.call, fault.effect, fault.resource, fault.nth, fault.times)))


def listed(node: Node) -> list[Json]:
    """Return all rules, in the order in which they are asked."""
    return [_shown(entry) for entry in node.switchboard.book.entries()]


def remove(node: Node, fault_id: str) -> Json:
    """Remove a rule; the calls that it holds go on."""
    if not node.switchboard.book.remove(fault_id):
        known = [entry.fault.id for entry in node.switchboard.book.entries()]
        raise Refusal(
            HTTPStatus.NOT_FOUND,
            f"there is no rule {cut(fault_id)!r}",
            seen=f"rules that there are: {', '.join(known) or 'none'}",
            remedy="GET /v1/faults lists them",
        )
    return {"removed": 1}


def clear(node: Node) -> Json:
    """Remove all rules."""
    return {"removed": node.switchboard.book.clear()}


def _shown(entry: Entry) -> Json:
    fault = entry.fault
    limits = {key: asdict(fault)[key] for key in ("resource", "nth", "times")}
    return {
        "id": fault.id,
        "call": fault.call,
        **limits,
        **worded(fault.effect, duration),
        "seen": entry.seen,
        "hit": entry.hit,
        "spent": entry.is_spent,
    }


def duration(seconds: float) -> str:
    """Return seconds as the fleet file writes them."""
    return f"{seconds:.0f}s" if seconds == int(seconds) else f"{round(seconds * 1000)}ms"
