"""AMD: cards and partitions as its device plugin offers them.

    strategy   offered as
    none       amd.com/gpu, and nothing is cut
    single     amd.com/gpu, whatever the mode that all cards are in
    mixed      amd.com/<compute>_<memory>, as amd.com/cpx_nps1; a card that is whole is in spx_nps1,
               and one that cannot be cut is amd.com/gpu

A card's ID is its PCI address. The first partition of a card is the PCI device itself, and the
others are amdgpu_xcp_<n>, seven numbers to a card; so what breaks the first partition breaks the
card. A container gets /dev/kfd, and of each device /dev/dri/card<n> and /dev/dri/renderD<n>; the
real plugin sets no variables. A card that can be cut holds eight numbers of them, one for each
partition that there might be.

Time-slicing is offered as <id>-slice-<n>. Shares of cores and memory have HAMi's names,
amd.com/gpucores and amd.com/gpumem, or those of an alias with -core and -memory.

Source: ROCm/k8s-device-plugin, internal/pkg/amdgpu/amdgpu.go, internal/pkg/plugin/timeslice.go, and
its testdata for the numbers of a card with eight partitions.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import identity, pool_layout, sharing, visible
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place

_GPU: Final = "amd.com/gpu"
_SHARES: Final = ("amd.com/gpucores", "amd.com/gpumem")
_WHOLE: Final = "spx_nps1"
_BETWEEN: Final = "-slice-"
#: Where the cards of an eight-card server are seen.
_BUSES: Final = (0x05, 0x26, 0x46, 0x65, 0x85, 0xA6, 0xC6, 0xE5)
_DOMAIN: Final = 0x2000
_MOST_PARTITIONS: Final = 8
_FIRST_RENDER: Final = 128
#: The first number belongs to the graphics of the server's management controller.
_FIRST_CARD: Final = 1


def card(node: str, share: Share, index: int, minor: int) -> Card:
    """Return a pool's card of that index, as its PCI address."""
    address = identity.pci_address(_BUSES, _DOMAIN, minor)
    serial = identity.serial_number(identity.of_card(node, share.pool, index))
    return pool_layout.card_of(share, index, minor, uid=address, pci=address, serial=serial)


def offers(share: Share, cards: Sequence[Card], place: Place = BARE) -> tuple[Offer, ...]:
    """Return the resources of a pool's cards; raises `WrongUse` for settings of NVIDIA's plugin."""
    visible.refuse_strategies(share)

    def answer(resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
        paths = [path for device in devices for path in files_of(device)]
        return ContainerAllocateResponse(
            envs=visible.variables(resource, visible.units(devices)),
            devices=visible.files(("/dev/kfd", *paths)),
            mounts=place.mounts("amd"),
        )

    if share.by_percentage:
        names = (f"{share.alias}-core", f"{share.alias}-memory") if share.alias else _SHARES
        return sharing.offers_of_shares(share, names, cards, answer)
    named = pool_layout.devices_by_resource(share, cards, _part_name, partial(_resource, share))
    none = {share.alias or _GPU: list[Device]()}
    return sharing.offers_of(share, named or none, _BETWEEN, answer)


def files_of(device: Device) -> Iterator[str]:
    """Return the device files of a card or a partition."""
    number = device.card.minor
    if device.card.model and device.card.model.profiles:
        number *= _MOST_PARTITIONS
    if device.partition is not None:
        number += device.partition.index
    yield f"/dev/dri/card{_FIRST_CARD + number}"
    yield f"/dev/dri/renderD{_FIRST_RENDER + number}"


def _part_name(gpu: Card, _profile: Profile, index: int) -> str:
    if index == 0:
        return gpu.uid
    return f"amdgpu_xcp_{gpu.minor * (_MOST_PARTITIONS - 1) + index - 1}"


def _resource(share: Share, device: Device) -> str:
    can_be_cut = device.card.model is not None and bool(device.card.model.profiles)
    if share.partitions is None or share.partitions.strategy != "mixed" or not can_be_cut:
        return share.alias or _GPU
    return f"amd.com/{device.partition.profile.name if device.partition else _WHOLE}"
