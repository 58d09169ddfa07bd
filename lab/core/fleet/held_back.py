"""Which devices a fleet keeps from its nodes by its own faults, as long as nobody clears them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fake_plugin.faults.fault import Call, Drop, Fail, Fault, Hang, Wrong
from lab.core.fleet.model import Fleet

#: What has to go well before a node has a resource, in the order in which it happens.
_ON_THE_WAY: Final[tuple[Call, ...]] = ("Register", "GetDevicePluginOptions", "ListAndWatch")
_SHOWN: Final = 4


@dataclass(frozen=True)
class HeldBack:
    """A resource that will not show its devices on a node of the cluster, and the rule by which."""

    node: str
    resource: str
    fault: Fault


@dataclass(frozen=True)
class Holding:
    """A rule, and in words what it does and what it holds back where."""

    rule: str
    does: str
    what: str


def held_back(fleet: Fleet) -> tuple[HeldBack, ...]:
    """Return what the faults of a placed fleet hold back, node by node.

    A rule does so where it keeps the kubelet from ever having a resource's list, or makes that list
    one with another number of devices. A rule for the first calls alone does not, since both sides
    try again; unless what it does to such a call has no end, as a hang.
    """
    return tuple(_found(fleet))


def holdings(found: Iterable[HeldBack]) -> tuple[Holding, ...]:
    """Return what is held back, told by rule."""
    rules: dict[Fault, dict[str, list[str]]] = {}
    for each in found:
        rules.setdefault(each.fault, {}).setdefault(each.resource, []).append(each.node)
    return tuple(
        Holding(
            fault.id,
            _does(fault),
            "; ".join(f"{resource} on {_listed(on)}" for resource, on in where.items()),
        )
        for fault, where in rules.items()
    )


def _listed(nodes: list[str]) -> str:
    more = len(nodes) - _SHOWN
    return ", ".join((*nodes[:_SHOWN], *([f"and {more} more"] if more > 0 else ())))


def _does(fault: Fault) -> str:
    match fault.effect:
        case Hang():
            return f"{fault.call} hangs"
        case Drop():
            return f"{fault.call} is dropped at once"
        case Wrong(answer):
            return f"{fault.call} is answered wrongly: {answer}"
        case _:
            return f"{fault.call} fails"


def _found(fleet: Fleet) -> Iterator[HeldBack]:
    for node, members in fleet.by_node().items():
        names = {None, *(each.name for each in members)}
        faults = [each.fault for each in fleet.faults if each.member in names]
        resources = dict.fromkeys(name for each in members for name in each.devices)
        for resource in resources:
            # A rule may count the calls of all resources: whose is the n-th is chance.
            about = [
                each
                for each in faults
                if each.resource == resource
                or (each.resource is None and (len(resources) == 1 or not _is_counted(each)))
            ]
            if fault := _holding(about):
                yield HeldBack(node, resource, fault)


def _holding(faults: list[Fault]) -> Fault | None:
    for call in _ON_THE_WAY:
        lasting = (each for each in faults if each.call == call and _lasts(each))
        # Every call meets it, and so none meets a rule after it.
        first = next(lasting, None)
        if first and _stops(first):
            return first
    return None


def _lasts(fault: Fault) -> bool:
    """Whether a rule goes on: it holds for all calls, or the first one that meets it has no end."""
    if not _is_counted(fault):
        return True
    # The plugin gives Register a quarter of a minute, within which the kubelet asks for options.
    endless = fault.call != "GetDevicePluginOptions" and isinstance(fault.effect, Hang | Wrong)
    return endless and fault.nth in {None, 1}


def _is_counted(fault: Fault) -> bool:
    return fault.nth is not None or fault.times is not None


def _stops(fault: Fault) -> bool:
    match fault.effect:
        case Fail() | Hang() | Drop(seconds=0):
            return True
        case Wrong(answer):
            return fault.call == "ListAndWatch" and answer != "unknown-device"
        case _:
            return False
