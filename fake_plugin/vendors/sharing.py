"""From hardware to resources, where one piece is offered several times: as replicas, or as shares.

    replicas   each piece of hardware n times, `<id><between><number>`
    shares     a resource with 100 devices for each card, its cores in percent, and one with a
               device for each unit of its memory

Cores and memory are two resources, and the kubelet allocates each for itself: a container may get
cores of one card and memory of another. The schedulers of the real ones prevent that; here
GetPreferredAllocation makes it rare.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device
from fake_plugin.errors import WrongUse
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share, Sharing
from fake_plugin.vendors.offer import Offer, Refused

#: Makes the answer for some devices of the resource of that name.
NamedAnswer: TypeAlias = Callable[[str, Sequence[Device]], ContainerAllocateResponse]

#: What NVIDIA's plugin adds to the name of a resource that is shared and renamed
#: (api/config/v1/consts.go).
SHARED: Final = ".shared"
_PERCENT: Final = 100
_CORES: Final = "GPULAB_CORES_PERCENT"
_MEMORY: Final = "GPULAB_MEMORY_MIB"


def another_unit(share: Share, change: str) -> str:
    """Return how to have another unit of memory, up to its number: only `percentage` has a key."""
    if share.by_percentage:
        return f"{change} sharing.memoryUnitMiB to"
    return "share by percentage, with a memoryUnitMiB of"


def offers_of(
    share: Share, named: Mapping[str, Iterable[Device]], between: str, answer: NamedAnswer
) -> tuple[Offer, ...]:
    """Return the resources of these names, with the replicas of their devices.

    Without sharing these are the devices themselves. The answers raise `Refused` where a container
    is to have one replica alone.
    """
    return tuple(
        _offer_of(share, resource, devices, between, answer) for resource, devices in named.items()
    )


def offers_of_shares(
    share: Share,
    names: tuple[str, str],
    cards: Sequence[Card],
    answer: NamedAnswer,
    variables: tuple[Sequence[str], Sequence[str]] = ((), ()),
) -> tuple[Offer, ...]:
    """Return the resources of shares of cores and of memory, with these two names.

    A container is told of how much it got, in percent and MiB, in variables of the lab and in
    those of `variables`: of the cores, and of the memory. Raises `WrongUse` where it is not known
    how much memory a card has, or it is less than one unit.
    """
    unit_mib = share.memory_unit_mib
    of_cores = dict.fromkeys((_CORES, *variables[0]), 1)
    of_memory = dict.fromkeys((_MEMORY, *variables[1]), unit_mib)
    memory = _memory_shares(share, cards, unit_mib)
    return (
        _offer_of_shares(share, names[0], _core_shares(cards), answer, of_cores),
        replace(_offer_of_shares(share, names[1], memory, answer, of_memory), unit_mib=unit_mib),
    )


def _offer_of(
    share: Share, resource: str, devices: Iterable[Device], between: str, answer: NamedAnswer
) -> Offer:
    sharing = share.sharing if share.sharing and share.sharing.replicas_of(resource) > 1 else None
    name = resource + SHARED if sharing and sharing.rename else resource

    def answer_to_one(wanted: Sequence[Device]) -> ContainerAllocateResponse:
        if sharing:
            _refuse_several_replicas(sharing, name, len(wanted))
        return answer(name, wanted)

    return Offer(
        resource=name,
        pool=share.pool,
        devices=tuple(
            _replicas(devices, sharing.replicas_of(resource), between) if sharing else devices
        ),
        answer=answer_to_one,
        spread=share.answering.replica_policy,
        pre_start=share.pre_start,
    )


def _refuse_several_replicas(sharing: Sharing, resource: str, number: int) -> None:
    """Refuse in the words of NVIDIA's plugin, the only one that does (internal/rm/rm.go).

    With MPS there is no choice: it refuses whatever was configured.
    """
    if number > 1 and (sharing.fail_above_one or sharing.strategy == "mps"):
        raise Refused(
            f'invalid allocation request for "{resource}": invalid request: '
            f"maximum request size for shared resources is 1; found {number}"
        )


def _offer_of_shares(
    share: Share,
    resource: str,
    devices: tuple[Device, ...],
    answer: NamedAnswer,
    worth: Mapping[str, int],
) -> Offer:
    """Return the offer of shares; `worth` says what one is, in each variable."""

    def answer_with_amount(wanted: Sequence[Device]) -> ContainerAllocateResponse:
        response = answer(resource, wanted)
        for name, each in worth.items():
            response.envs[name] = str(each * len(wanted))
        return response

    return Offer(
        resource=resource,
        pool=share.pool,
        devices=devices,
        answer=answer_with_amount,
        spread="together",
        pre_start=share.pre_start,
    )


def _replicas(devices: Iterable[Device], times: int, between: str) -> Iterator[Device]:
    return (
        Device(f"{device.id}{between}{number}", device.card, device.partition, number)
        for device in devices
        for number in range(times)
    )


def _core_shares(cards: Sequence[Card]) -> tuple[Device, ...]:
    return tuple(
        Device(f"{_short(card)}-c{number}", card, None, number)
        for card in cards
        for number in range(_PERCENT)
    )


def _memory_shares(share: Share, cards: Sequence[Card], unit_mib: int) -> tuple[Device, ...]:
    return tuple(
        Device(f"{_short(card)}-m{number}", card, None, number)
        for card in cards
        for number in range(_units(share, card, unit_mib))
    )


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
            remedy="give memoryMiB in an accelerator of your own",
            key=("accelerator",),
        )
    if memory < unit_mib:
        raise WrongUse(
            "a unit of memory is larger than the accelerator's memory",
            where=f"pool {share.pool}",
            seen=f"{unit_mib} MiB of {memory} MiB",
            remedy=f"{another_unit(share, 'lower')} {memory} or less",
            key=("sharing", "memoryUnitMiB"),
        )
    return memory // unit_mib
