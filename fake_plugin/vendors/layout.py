"""Where the cards of a pool sit, and how they are cut up."""

from collections.abc import Callable
from typing import TypeAlias

from fake_plugin.errors import WrongUse
from fake_plugin.fleet.plan import Share
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.card import Card, Partition

#: Makes the name of a card's `index`-th part.
NamePart: TypeAlias = Callable[[Card, Profile, int], str]


def numa_node(share: Share, index: int) -> int | None:
    """Return the NUMA node of a pool's card; of one that was added nobody has said any."""
    return share.numa[index] if index < len(share.numa) else None


def parts_of(share: Share, card: Card, name: NamePart) -> tuple[Partition, ...] | None:
    """Return the parts that a card is cut into, or None where it is whole.

    No parts are those of a card that is in partition mode and has none. Where all cards are cut
    alike (strategy single), one that was added to the pool is cut as the first one is.
    """
    profiles = _profiles(share, card.index)
    if profiles is None:
        return None
    cut = enumerate(_profile(share, card, each) for each in profiles)
    return tuple(Partition(name(card, profile, at), card, at, profile) for at, profile in cut)


def _profiles(share: Share, index: int) -> tuple[str, ...] | None:
    partitions = share.partitions
    if partitions is None or partitions.strategy == "none":
        return None
    if index >= share.count and partitions.strategy == "single":
        return partitions.layout.get(0)
    return partitions.layout.get(index)


def _profile(share: Share, card: Card, name: str) -> Profile:
    profile = card.model.profile(name) if card.model else None
    if profile is None:
        raise WrongUse(
            f"the accelerator has no partition profile {name}",
            where=f"pool {share.pool}",
            seen=", ".join(each.name for each in card.model.profiles) if card.model else "",
            remedy="use one of the accelerator's profiles",
            key=("partitions", "layout"),
        )
    return profile
