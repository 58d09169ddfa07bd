"""Pools of each vendor's cards, and what becomes of them."""

from collections.abc import Mapping
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Answering, Partitions, PartitionStrategy, Share
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place

H100: Final = Accelerator(
    "nvidia-h100-sxm-80gb",
    "nvidia",
    "NVIDIA H100 80GB HBM3",
    memory_mib=81559,
    compute_slices=7,
    memory_slices=8,
    profiles=(
        Profile("1g.10gb", 7, 1, 1),
        Profile("1g.10gb+me", 1, 1, 1),
        Profile("2g.20gb", 3, 2, 2),
        Profile("3g.40gb", 2, 3, 4),
        Profile("7g.80gb", 1, 7, 8),
    ),
)
MI300X: Final = Accelerator(
    "amd-mi300x-192gb",
    "amd",
    "AMD Instinct MI300X",
    memory_mib=196608,
    architecture="gfx942",
    profiles=(
        Profile("spx_nps1", 1, 8, 4),
        Profile("dpx_nps1", 2, 4, 2),
        Profile("cpx_nps1", 8, 1, 1),
        Profile("cpx_nps4", 8, 1, 1),
    ),
)
MI210: Final = Accelerator("amd-mi210-64gb", "amd", "AMD Instinct MI210", memory_mib=65520)
ASCEND: Final = Accelerator(
    "ascend-910b3-64gb",
    "ascend",
    "910B3",
    memory_mib=65536,
    architecture="910B3",
    profiles=(Profile("vir05_1c_16g", 4, 5, 16), Profile("vir10_3c_32g", 2, 10, 32)),
)
ASCEND_A: Final = Accelerator(
    "ascend-910a-32gb",
    "ascend",
    "910A",
    memory_mib=32768,
    architecture="910A",
    profiles=(Profile("vir02", 15, 2, 2), Profile("vir16", 1, 16, 17)),
)
ASCEND_P: Final = Accelerator("ascend-310p3-24gb", "ascend", "310P3", 21527, architecture="310P3")


def pool(accelerator: Accelerator, count: int = 2, **keys: object) -> Share:
    """Return what a pool called p gives to its node."""
    return Share("p", "p-0", count, accelerator=accelerator, **keys)  # type: ignore[arg-type]


def cut(strategy: PartitionStrategy, layout: Mapping[int, tuple[str, ...]]) -> Partitions:
    """Return a layout of partitions."""
    return Partitions(strategy, layout)


def answering(*strategies: str, **keys: object) -> Answering:
    """Return how the plugin answers."""
    return Answering(strategies or ("envvar",), **keys)  # type: ignore[arg-type]


def cards_of(share: Share, node: str = "worker") -> list[Card]:
    """Return the cards of a pool that is alone on its node."""
    vendor = vendor_of(share)
    return [vendor.card(node, share, index, index) for index in range(share.count)]


def offers_of(share: Share, place: Place = BARE) -> dict[str, Offer]:
    """Return the resources of a pool by their names."""
    offers = vendor_of(share).offers(share, cards_of(share), place)
    return {offer.resource: offer for offer in offers}


def listed(share: Share) -> dict[str, list[str]]:
    """Return the IDs of each resource's devices."""
    return {
        name: [device.id for device in offer.devices] for name, offer in offers_of(share).items()
    }


def sizes(share: Share) -> dict[str, int]:
    """Return how many devices each resource has."""
    return {name: len(ids) for name, ids in listed(share).items()}


def allocate(share: Share, *wanted: int, place: Place = BARE) -> ContainerAllocateResponse:
    """Return the answer for the devices at these places of the pool's first resource."""
    offer = next(iter(offers_of(share, place).values()))
    return offer.answer([offer.devices[at] for at in wanted])


def foreign_variables(answer: ContainerAllocateResponse) -> dict[str, str]:
    """Return the variables that are the vendor's, and not the lab's own."""
    return {key: text for key, text in answer.envs.items() if not key.startswith("GPULAB_")}


def paths(answer: ContainerAllocateResponse) -> list[str]:
    """Return the device files in the container; on the node all of them are /dev/null."""
    assert {file.host_path for file in answer.devices} <= {"/dev/null"}
    assert {file.permissions for file in answer.devices} <= {"rw"}
    return [file.container_path for file in answer.devices]


def parts(answer: ContainerAllocateResponse) -> list[str]:
    """Return which of an answer's fields say something."""
    return [field.name for field, _ in answer.ListFields()]
