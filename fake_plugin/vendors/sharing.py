"""One piece of hardware offered several times: replicas of it, or shares of cores and memory."""

from collections.abc import Iterable, Sequence
from typing import Final

from fake_plugin.device import Device
from fake_plugin.errors import WrongUse
from fake_plugin.fleet.plan import Share, Sharing
from fake_plugin.hardware.card import Card
from fake_plugin.vendors.offer import Spread

#: What NVIDIA's plugin adds to the name of a resource that is shared and renamed
#: (api/config/v1/consts.go).
_SHARED: Final = ".shared"
_PERCENT: Final = 100


def is_replicated(share: Share) -> bool:
    """Tell whether each piece of hardware is offered as several replicas of itself."""
    return share.sharing is not None and share.sharing.strategy != "percentage"


def by_percentage(share: Share) -> Sharing | None:
    """Return how cores and memory are shared out, or None where they are not."""
    sharing = share.sharing
    return sharing if sharing and sharing.strategy == "percentage" else None


def resource_name(share: Share, resource: str) -> str:
    """Return what a resource is called when its devices are replicas."""
    renamed = share.sharing is not None and share.sharing.rename
    return resource + _SHARED if renamed and is_replicated(share) else resource


def replicas(share: Share, devices: Iterable[Device], between: str) -> tuple[Device, ...]:
    """Return the replicas of each device, named `<id><between><number>`, or just the devices."""
    if share.sharing is None or not is_replicated(share):
        return tuple(devices)
    numbers = range(share.sharing.replicas)
    return tuple(
        Device(f"{device.id}{between}{number}", device.card, device.partition, number)
        for device in devices
        for number in numbers
    )


def spread(share: Share) -> Spread:
    """Return how GetPreferredAllocation chooses among replicas."""
    return share.answering.replica_policy


def core_shares(cards: Sequence[Card]) -> tuple[Device, ...]:
    """Return a device for each percent of a card's cores, as nvidia0-c17."""
    return tuple(
        Device(f"{_short(card)}-c{number}", card, None, number)
        for card in cards
        for number in range(_PERCENT)
    )


def memory_shares(share: Share, cards: Sequence[Card], unit_mib: int) -> tuple[Device, ...]:
    """Return a device for each unit of a card's memory, as nvidia0-m63.

    Raises `WrongUse` where it is not known how much the cards have, or less than one unit.
    """
    return tuple(
        Device(f"{_short(card)}-m{number}", card, None, number)
        for card in cards
        for number in range(_units(share, card, unit_mib))
    )


def core_variables(devices: Sequence[Device]) -> dict[str, str]:
    """Return what tells a container its part of the cores, in percent of a card."""
    return {"GPULAB_CORES_PERCENT": str(len(devices))}


def memory_variables(devices: Sequence[Device], unit_mib: int) -> dict[str, str]:
    """Return what tells a container its part of the memory, in MiB."""
    return {"GPULAB_MEMORY_MIB": str(len(devices) * unit_mib)}


def _short(card: Card) -> str:
    # A node has tens of thousands of shares, and all their names go into one message.
    return f"{card.model.vendor if card.model else ''}{card.minor}"


def _units(share: Share, card: Card, unit_mib: int) -> int:
    memory = card.model.memory_mib if card.model else None
    if memory is None:
        raise WrongUse(
            "the accelerator's memory is not known, so it cannot be shared out",
            where=f"pool {share.pool}",
            seen=card.model.name if card.model else "",
            remedy="give memoryMiB in an accelerator of your own, or share by time-slicing",
        )
    if memory < unit_mib:
        raise WrongUse(
            "a unit of memory is larger than the accelerator's memory",
            where=f"pool {share.pool}",
            seen=f"{unit_mib} MiB of {memory} MiB",
            remedy=f"lower the memory unit to {memory} MiB or less",
        )
    return memory // unit_mib
