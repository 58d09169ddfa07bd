"""Models, cards and readings of each vendor, and a node that has just the cards it is given."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.reading import Holder, Reading
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.inventory import Inventory
from fake_plugin.resources.resource import Resource
from fake_plugin.vendors import generic
from fake_plugin.vendors.offer import Offer

NODE: Final = "node-a"
NOW: Final = 1_800_000_000.0
RESOURCE: Final = "example.com/gpu"

SLICE: Final = Profile("1g.10gb", most=7, compute=1, memory=1, memory_mib=9984)
CPX: Final = Profile("cpx_nps4", most=8, compute=1, memory=1, memory_mib=24576)
VNPU: Final = Profile("5c.1cpu.16g", most=4, compute=5, memory=16, memory_mib=16384)
H100: Final = Accelerator(
    "nvidia-h100-sxm-80gb", "nvidia", "NVIDIA H100 80GB HBM3", 81559, 700, "hopper", 7, 8, (SLICE,)
)
T4: Final = Accelerator("nvidia-t4-16gb", "nvidia", "Tesla T4", 15360, 70, "turing")
MI300X: Final = Accelerator(
    "amd-mi300x-192gb", "amd", "AMD Instinct MI300X", 196608, 750, "gfx942", 8, 8, (CPX,)
)
MI210: Final = Accelerator("amd-mi210-64gb", "amd", "AMD Instinct MI210", 65536, 300, "gfx90a")
ASCEND: Final = Accelerator(
    "ascend-910b3-64gb", "ascend", "Ascend 910B3", 65536, 400, "910B3", 20, 64, (VNPU,)
)
ASCEND_310P: Final = Accelerator(
    "ascend-310p3-24gb", "ascend", "Ascend 310P3", 21527, None, "310P3"
)
UNKNOWN: Final = Accelerator("nvidia-unknown", "nvidia", "NVIDIA X")
_UIDS: Final = {"nvidia": "GPU-{:08x}", "amd": "0000:{:02x}:00.0", "ascend": "Ascend910-{}"}


def card(model: Accelerator | None, minor: int = 0, pool: str = "pool") -> Card:
    """Return the card of that number; cards of different numbers have nothing in common."""
    uid = (_UIDS[model.vendor] if model else "fake-{}").format(minor)
    if model is None:
        return Card(uid, pool, minor, minor)
    pci = f"0000:{0x1A + minor:02x}:00.0"
    return Card(uid, pool, minor, minor, model, pci=pci, serial=f"SN{minor}")


def part(of: Card, index: int, profile: Profile) -> Partition:
    """Return a partition of a card, with a name of the vendor's shape."""
    vendor = of.model.vendor if of.model else ""
    return Partition(_part_uid(vendor, of, index, profile), of, index, profile)


def _part_uid(vendor: str, of: Card, index: int, profile: Profile) -> str:
    if vendor == "amd":
        return f"amdgpu_xcp_{8 * of.minor + index}" if index else of.uid
    if vendor == "ascend":
        return f"Ascend910-{profile.name}-{100 + index}-{of.minor}"
    return f"MIG-{of.minor:04x}-{index:04x}"


def pod(name: str, namespace: str = "default", container: str = "main") -> Holder:
    """Return a container of the pod of that name."""
    return Holder(namespace, name, container)


def reading(of: Card, partition: Partition | None = None, *holders: Holder) -> Reading:
    """Return a healthy unit at three quarters of its power."""
    return Reading(
        card=of,
        partition=partition,
        healthy=True,
        breakage=None,
        holders=holders,
        utilization=0.75,
        memory_used_mib=4096,
        memory_total_mib=partition.profile.memory_mib if partition else 8192,
        power_watts=200.0,
        energy_joules=1500.5,
        temperature_celsius=64,
        memory_temperature_celsius=70,
        card_utilization=0.75,
        memory_reserved_mib=100,
        clock_mhz=1410,
        memory_clock_mhz=1593,
        busy_seconds=60.0,
    )


def idle(of: Card, partition: Partition | None = None) -> Reading:
    """Return a unit that nobody holds."""
    return replace(reading(of, partition), utilization=0.0, card_utilization=0.0, memory_used_mib=0)


def board(folder: Path, *, sticky: bool = False) -> Board:
    """Return a board on which all is sound."""
    return Board(StateFile(folder), State(), sticky=sticky)


class Node(Inventory):
    """A node with the devices of one resource, and the hardware behind them."""

    def __init__(
        self,
        hardware: Board,
        devices: Sequence[Device],
        cards: Sequence[Card] = (),
        load: Mapping[str, float] | None = None,
    ) -> None:
        offer = Offer(
            RESOURCE, "pool", tuple(devices), lambda each: generic.container_answer(RESOURCE, each)
        )
        self.node = NODE
        self.plan = Plan((Share("pool", NODE, len(cards)),), load=load or {})
        self.board = hardware
        self.resources = (Resource(offer, hardware),)
        self._given = tuple(dict.fromkeys([*cards, *(device.card for device in devices)]))

    def cards(self, share: Share) -> tuple[Card, ...]:
        """Return the cards, whatever the share."""
        del share
        return self._given


def held(*devices: str) -> dict[tuple[str, str], Holder]:
    """Return a pod of its own for each device."""
    return {(RESOURCE, name): pod(f"pod-{at}") for at, name in enumerate(devices)}
