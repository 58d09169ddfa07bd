"""Which resources GPUs become.

    MIG strategy   whole GPUs            MIG devices
    none           nvidia.com/gpu        are not looked at: the GPU counts as whole
    single         -                     nvidia.com/gpu
    mixed          nvidia.com/gpu        nvidia.com/mig-<profile>, with + as .

A resource without devices is not offered: where all GPUs are cut up and the strategy is mixed,
there is no nvidia.com/gpu. What `single` and MPS refuse, the fleet's own rules do
(`fake_plugin.hardware.partition_rules`, `fake_plugin.fleet.pool_rules`).

Shares of cores and memory are offered as Tencent's qGPU has them, 100 cores to a card and units of
1 GiB: tke.cloud.tencent.com/qgpu-core and -memory. An alias of the pool replaces what is before the
dash there, and nvidia.com/gpu elsewhere.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from fake_plugin.device import Device
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import pool_layout, sharing
from fake_plugin.vendors.nvidia.answers import Answers
from fake_plugin.vendors.nvidia.hardware import mig_name
from fake_plugin.vendors.nvidia.naming import uses_cdi
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place

_GPU: Final = "nvidia.com/gpu"
_MIG: Final = "nvidia.com/mig-"
_QGPU: Final = "tke.cloud.tencent.com/qgpu"
_BETWEEN: Final = "::"


def offers(share: Share, cards: Sequence[Card], place: Place = BARE) -> tuple[Offer, ...]:
    """Return the resources of a pool's GPUs.

    Raises `WrongUse` where memory is shared out of which too little is there, or nothing is known.
    """
    found = _offers(share, cards, Answers(share, place))
    if not uses_cdi(share.answering):
        return found
    from fake_plugin.vendors.nvidia.cdi import cdi_devices  # noqa: PLC0415 - few need its memory

    return tuple(replace(offer, cdi=cdi_devices(share, offer.devices)) for offer in found)


def _offers(share: Share, cards: Sequence[Card], answers: Answers) -> tuple[Offer, ...]:
    if share.by_percentage:
        name = share.alias or _QGPU
        names = (f"{name}-core", f"{name}-memory")
        return sharing.offers_of_shares(share, names, cards, answers.share_of_cards)
    named = pool_layout.devices_by_resource(share, cards, mig_name, partial(_resource, share))
    none = {share.alias or _GPU: list[Device]()}
    return sharing.offers_of(share, named or none, _BETWEEN, answers.container)


def _resource(share: Share, device: Device) -> str:
    mixed = share.partitions is not None and share.partitions.strategy == "mixed"
    if device.partition is None or not mixed:
        return share.alias or _GPU
    return _MIG + device.partition.profile.name.replace("+", ".")
