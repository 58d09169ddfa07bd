"""Where the cards of a pool sit, and how they are cut up."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.plan import Share

#: Makes the name of a card's `index`-th part.
NamePart: TypeAlias = Callable[[Card, Profile, int], str]


def card_of(  # noqa: PLR0913 - where it is, and what its vendor calls it
    share: Share, index: int, minor: int, *, uid: str, pci: str = "", serial: str = ""
) -> Card:
    """Return a pool's card of that index, as its vendor names it.

    Of one that was added nobody has said on which NUMA node it is.
    """
    numa = share.numa[index] if index < len(share.numa) else None
    return Card(uid, share.pool, index, minor, share.accelerator, numa, pci, serial)


def parts_of(share: Share, card: Card, name: NamePart) -> tuple[Partition, ...] | None:
    """Return the parts that a card is cut into, or None where it is whole.

    No parts are those of a card that is in partition mode and has none. Where all cards are cut
    alike (strategy single), one that was added to the pool is cut as the first one is. That the
    card has the profiles is a rule of the fleet (`fake_plugin.hardware.partition_rules`).
    """
    cut = _cut(share, card.index)
    if cut is None:
        return None
    known = {each.name: each for each in card.model.profiles} if card.model else {}
    profiles = enumerate(known[each] for each in cut)
    return tuple(Partition(name(card, profile, at), card, at, profile) for at, profile in profiles)


def devices_by_resource(
    share: Share, cards: Iterable[Card], name: NamePart, resource: Callable[[Device], str]
) -> dict[str, list[Device]]:
    """Return what the cards are offered as, cards and parts, by the resource of each."""
    found: dict[str, list[Device]] = {}
    for card in cards:
        for device in _devices(share, card, name):
            found.setdefault(resource(device), []).append(device)
    return found


def _devices(share: Share, card: Card, name: NamePart) -> Iterator[Device]:
    parts = parts_of(share, card, name)
    if parts is None:
        yield Device(card.uid, card)
    for part in parts or ():
        yield Device(part.uid, card, part)


def _cut(share: Share, index: int) -> tuple[str, ...] | None:
    partitions = share.partitions
    if partitions is None or partitions.strategy == "none":
        return None
    if index >= share.count and partitions.strategy == "single":
        return partitions.layout.get(0)
    return partitions.layout.get(index)
