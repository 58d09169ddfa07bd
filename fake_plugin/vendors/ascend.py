"""Ascend: NPUs and vNPUs, as the vendor's plugin offers them or as HAMi's does.

    dialect    NPUs                      IDs
    official   huawei.com/Ascend910      Ascend910-<n>; also 310, 310P
               …-<cores>c for vNPUs      Ascend910-2c-100-0: template, vNPU, NPU
    hami       huawei.com/Ascend910B3    <number of the die>-<k>

The names of the official plugin do not tell a 910A from a 910B. HAMi's has one for each chip, and
-core and -memory beside it, here always: with them a pod says how much of an NPU it wants. HAMi's
own plugin leaves these two to its scheduler, in MB; here they are devices, in percent and in units,
and an NPU is listed once, where HAMi lists it as often as the smallest template fits on it.

A container gets ASCEND_VISIBLE_DEVICES with the numbers, which the vendor's container runtime reads
to make device files. No such runtime is here, so the files come with the answer, as they do from
the real plugin where that runtime is not used (-useAscendDocker=false).

Neither plugin has a preference. A vNPU is given one at a time, and HAMi cuts NPUs when a pod asks.

Source: Ascend/mind-cluster, component/ascend-device-plugin/pkg/server/plugin.go and pkg/common;
Project-HAMi/ascend-device-plugin, internal/server; the manual of npu-smi for the numbers of vNPUs.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device
from fake_plugin.errors import WrongUse
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import identity, pool_layout, sharing, visible
from fake_plugin.vendors.offer import Offer, Refused
from fake_plugin.vendors.place import BARE, Place

_PREFIX: Final = "huawei.com/"
_BETWEEN: Final = "-"
#: Where the NPUs of an eight-NPU server are seen.
_BUSES: Final = (0xC1, 0x01, 0xC2, 0x02, 0x81, 0x41, 0x82, 0x42)
_DOMAIN: Final = 0x3000
_CONTROL_FILES: Final = ("/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm")
_FIRST_VNPU: Final = 100
_VNPUS_OF_NPU: Final = 16
#: A template as npu-smi names it: vir05_1c_16g has 5 AI cores, 1 AI CPU and 16 GB.
_TEMPLATE: Final = re.compile(r"vir0*(\d+)(?:_(\d+)c)?(?:_(\d+)g)?")
#: What HAMi tells a container of the cores and the memory that it has of an NPU.
_HAMI_VARIABLES: Final = (("NPU_PRIORITY",), ("NPU_MEM_QUOTA",))


def card(node: str, share: Share, index: int, minor: int) -> Card:
    """Return a pool's NPU of that index, as Ascend910-<n>; its serial is the number of its die."""
    name = identity.of_card(node, share.pool, index)
    digits = (name.hex + identity.of_part(str(name), "die", 0).hex).upper()
    return pool_layout.card_of(
        share,
        index,
        minor,
        uid=f"{_family(share)}-{minor}",
        pci=identity.pci_address(_BUSES, _DOMAIN, minor),
        serial="-".join(digits[at : at + 8] for at in range(0, 40, 8)),
    )


def offers(share: Share, cards: Sequence[Card], place: Place = BARE) -> tuple[Offer, ...]:
    """Return the resources of a pool's NPUs.

    Raises `WrongUse` where HAMi's dialect lacks the name of the chip or its memory, or meets a
    layout of vNPUs, for shares in percent in the official one, and for settings of NVIDIA's plugin.
    """
    visible.refuse_strategies(share)
    answers = _Answers(share, place)
    if share.dialect == "hami":
        return _of_hami(share, cards, answers)
    whole = share.alias or f"{_PREFIX}{_family(share)}"
    if share.by_percentage:
        raise WrongUse(
            "Ascend's own plugin has no shares in percent: its huawei.com/npu-core counts AI cores "
            "of a node, for a scheduler that cuts NPUs by templates",
            where=f"pool {share.pool}",
            remedy="use the dialect hami, or partitions with a layout of vNPUs",
            key=("sharing", "strategy"),
        )

    def resource(device: Device) -> str:
        return f"{_PREFIX}{_kind(device)}" if device.partition else whole

    named = pool_layout.devices_by_resource(share, cards, _vnpu_name, resource)
    found = sharing.offers_of(share, named or {whole: []}, _BETWEEN, answers.container)
    return tuple(replace(offer, preferred=False) for offer in found)


def _of_hami(share: Share, cards: Sequence[Card], answers: "_Answers") -> tuple[Offer, ...]:
    if share.partitions:
        raise WrongUse(
            "HAMi cuts an NPU when a pod asks for memory of it, and not before",
            where=f"pool {share.pool}",
            remedy="leave out the partitions, or use the official dialect",
            key=("partitions",),
        )
    name = share.alias or f"{_PREFIX}{_chip(share)}"
    shares = sharing.offers_of_shares(
        share, (f"{name}-core", f"{name}-memory"), cards, answers.container, _HAMI_VARIABLES
    )
    # The real one numbers the places of an NPU also where there is one.
    several = share if share.sharing and not share.by_percentage else None
    devices = [Device(each.serial if several else f"{each.serial}-0", each) for each in cards]
    whole = sharing.offers_of(
        several or replace(share, sharing=None), {name: devices}, _BETWEEN, answers.container
    )
    return (*(replace(offer, preferred=False) for offer in whole), *shares)


def _vnpu_name(npu: Card, profile: Profile, index: int) -> str:
    family, _, number = npu.uid.rpartition("-")
    vnpu = _FIRST_VNPU + _VNPUS_OF_NPU * npu.minor + index
    return f"{family}-{_template(profile.name)}-{vnpu}-{number}"


def _kind(vnpu: Device) -> str:
    """Return what a vNPU is called without its numbers, as Ascend910-2c."""
    return vnpu.unit.rsplit("-", 2)[0]


def _template(name: str) -> str:
    """Return how the plugin calls a template, as 5c.1cpu.16g; what it calls so already stays."""
    found = _TEMPLATE.match(name)
    if not found:
        return name
    cores, cpus, gb = found.groups()
    extra = name[found.end() :].replace("_", ".")
    return f"{cores}c{f'.{cpus}cpu' if cpus else ''}{f'.{gb}g' if gb else ''}{extra}"


def _family(share: Share) -> str:
    """Return the official plugin's name of the chip, which is that of its generation."""
    chip = (share.accelerator.architecture if share.accelerator else None) or ""
    return next((f"Ascend{name}" for name in ("310P", "310") if chip.startswith(name)), "Ascend910")


def _chip(share: Share) -> str:
    """Return HAMi's name of the chip; that of all 310P is one."""
    chip = share.accelerator.architecture if share.accelerator else None
    if not chip:
        raise WrongUse(
            "HAMi's resources are named after the chip, which is not known",
            where=f"pool {share.pool}",
            seen=share.accelerator.name if share.accelerator else "",
            remedy="give the accelerator's architecture, as 910B3, or use the official dialect",
            key=("accelerator",),
        )
    return "Ascend310P" if chip.startswith("310P") else f"Ascend{chip}"


class _Answers:
    """What Allocate returns for NPUs, vNPUs and shares of NPUs."""

    def __init__(self, share: Share, place: Place) -> None:
        self._dialect = share.dialect
        self._place = place

    def container(self, resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
        """Return the answer for one container; raises `Refused`."""
        are_virtual = any(device.partition for device in devices)
        if are_virtual and len(devices) > 1:
            raise Refused(f"request more than 1 virtual device, current is {len(devices)}")
        numbers = list(dict.fromkeys(_number(device) for device in devices))
        answer = ContainerAllocateResponse(
            envs=visible.variables(resource, visible.units(devices)),
            devices=visible.files((*_CONTROL_FILES, *(f"/dev/davinci{each}" for each in numbers))),
            mounts=self._place.mounts("ascend"),
        )
        answer.envs["ASCEND_VISIBLE_DEVICES"] = ",".join(numbers)
        if self._dialect == "official":
            answer.envs["ASCEND_RUNTIME_OPTIONS"] = "VIRTUAL" if are_virtual else ""
        return answer


def _number(device: Device) -> str:
    """Return the number of an NPU or of a vNPU."""
    return device.unit.rsplit("-", 2)[1] if device.partition else str(device.card.minor)
