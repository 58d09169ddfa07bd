"""Finds hardware by what people call it.

A device is named by its ID, by the name of the unit behind it, by that of its card, or by pool and
index of its card, as `nvidia/3`; the third part of `nvidia/3/1` is the partition on it. Where a
node has one pool, `3` and `3/1` will do.
"""

from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import Final, TypeAlias

from fake_plugin.control.refusal import Refusal
from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.hardware.card import Card
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.resource import Resource
from fake_plugin.shortening import cut, few

_SHOWN: Final = 4
#: A longer number is no index, and may be too long to be read.
_INDEX_DIGITS: Final = 18
#: Vendors by the names of units, in the order in which those were asked for.
Units: TypeAlias = dict[str, Vendor | None]


def resources(inventory: Inventory, resource: str | None, pool: str | None) -> list[Resource]:
    """Return the node's resources, or those of a name and a pool; refuses names not known."""
    found = list(inventory.resources)
    if pool is not None:
        require_pool(inventory, pool)
        found = [each for each in found if each.offer.pool == pool]
    if resource is not None:
        require_resource(inventory, resource)
        found = [each for each in found if each.name == resource]
    return found


def require_resource(inventory: Inventory, resource: str) -> None:
    """Refuse a resource that this node does not have."""
    _require("resource", resource, [each.name for each in inventory.resources])


def require_pool(inventory: Inventory, pool: str) -> None:
    """Refuse a pool that this node is not of."""
    _require("pool", pool, [each.pool for each in inventory.plan.shares])


def every_unit(found: Iterable[Resource], *, cards: bool = False) -> Units:
    """Return all units behind resources, or all their cards."""
    devices = (device for resource in found for device in resource.devices)
    return {(each.card.uid if cards else each.unit): _vendor(each.card) for each in devices}


def units(inventory: Inventory, found: Iterable[Resource], names: tuple[str, ...]) -> Units:
    """Return the units of these names; a card that is named stands for all on it."""
    return _named_devices(inventory, found, names, _unit_names, "device")


def cards(inventory: Inventory, found: Iterable[Resource], names: tuple[str, ...]) -> Units:
    """Return the cards of these names, whether a card is named or something on it."""
    return _named_devices(inventory, found, names, _card_names, "card")


def unplugged(inventory: Inventory, pool: str | None) -> dict[str, Card]:
    """Return the cards that are unplugged, of a pool or of all."""
    gone = inventory.board.state.unplugged
    shares = [each for each in inventory.plan.shares if pool in {None, each.pool}]
    every = (card for share in shares for card in inventory.every_card(share))
    return {card.uid: card for card in every if card.uid in gone}


def unplugged_units(inventory: Inventory, pool: str | None, names: tuple[str, ...]) -> Units:
    """Return those of the unplugged cards that have these names."""
    alone = _has_one_pool(inventory)
    every = [
        (name, card.uid, card)
        for card in unplugged(inventory, pool).values()
        for name in (card.uid, *_indices(card, None, alone=alone))
    ]
    return _named(names, every, every, "unplugged card")


_Named: TypeAlias = Iterable[tuple[str, str, Card]]
_Naming: TypeAlias = Callable[[Device, bool], Iterator[tuple[str, str]]]


def _named_devices(
    inventory: Inventory,
    found: Iterable[Resource],
    names: tuple[str, ...],
    naming: _Naming,
    noun: str,
) -> Units:
    alone, found = _has_one_pool(inventory), list(found)
    likely = _of_devices(_likely(found, names), naming, alone=alone)
    devices = (device for resource in found for device in resource.devices)
    return _named(names, likely, _of_devices(devices, naming, alone=alone), noun)


def _of_devices(devices: Iterable[Device], naming: _Naming, *, alone: bool) -> _Named:
    for device in devices:
        for name, unit in naming(device, alone):
            yield name, unit, device.card


def _likely(found: Iterable[Resource], names: tuple[str, ...]) -> Iterable[Device]:
    """Return the devices that could have one of the names.

    To write down every name of 20 000 devices takes longer than a flap may.
    """
    by_id = [device for resource in found for name in names if (device := resource.find(name))]
    wanted = set(names)
    if wanted <= {device.id for device in by_id}:
        return by_id
    parts = {part for name in names for part in name.split("/")}
    indices = {int(part) for part in parts if part.isdecimal() and len(part) <= _INDEX_DIGITS}
    return [
        device
        for resource in found
        for device in resource.devices
        if device.card.index in indices
        or not wanted.isdisjoint((device.id, device.unit, device.card.uid))
    ]


def _unit_names(device: Device, alone: bool) -> Iterator[tuple[str, str]]:  # noqa: FBT001 - one of two shapes
    yield device.id, device.unit
    yield device.unit, device.unit
    yield device.card.uid, device.card.uid
    for name in _indices(device.card, None, alone=alone):
        yield name, device.card.uid
    if device.partition:
        for name in _indices(device.card, device.partition.index, alone=alone):
            yield name, device.unit


def _card_names(device: Device, alone: bool) -> Iterator[tuple[str, str]]:  # noqa: FBT001 - as above
    return ((name, device.card.uid) for name, _ in _unit_names(device, alone))


def _indices(card: Card, partition: int | None, *, alone: bool) -> Iterator[str]:
    short = f"{card.index}" if partition is None else f"{card.index}/{partition}"
    yield f"{card.pool}/{short}"
    if alone:
        yield short


def _has_one_pool(inventory: Inventory) -> bool:
    return len({share.pool for share in inventory.plan.shares}) == 1


def _named(names: tuple[str, ...], likely: _Named, every: _Named, noun: str) -> Units:
    """Return what the names stand for; refuses one that stands for nothing, or for two things.

    What they stand for is among `likely`; what else there is, an error takes from `every`.
    """
    wanted, found = set(names), dict[str, str]()
    vendors: Units = {}
    for name, unit, card in likely:
        if name in wanted:
            if found.setdefault(name, unit) != unit:
                raise _ambiguous(noun, name, found[name], unit)
            vendors[unit] = _vendor(card)
    if missing := [name for name in names if name not in found]:
        known = dict.fromkeys(f"{card.pool}/{card.index} {unit}" for _, unit, card in every)
        raise _unknown(noun, missing, [*known])
    return {found[name]: vendors[found[name]] for name in names}


def _vendor(card: Card) -> Vendor | None:
    return card.model.vendor if card.model else None


def _require(noun: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise _unknown(noun, [name], known)


def _unknown(noun: str, names: list[str], known: list[str]) -> Refusal:
    named = ", ".join(few([repr(cut(name)) for name in names], _SHOWN))
    return Refusal(
        HTTPStatus.NOT_FOUND,
        f"this node has no {noun} {named}",
        seen=f"it has {', '.join(few(known, _SHOWN))}" if known else f"it has no {noun} at all",
        remedy="name what is there; nothing was changed",
    )


def _ambiguous(noun: str, name: str, one: str, other: str) -> Refusal:
    return Refusal(
        HTTPStatus.CONFLICT,
        f"{noun} {cut(name)!r} could be either of two",
        seen=f"{one} and {other}",
        remedy="name the one that is meant, or its resource; nothing was changed",
    )
