"""GPUs and MIG devices, with the names, numbers and device files that NVML gives them."""

from collections.abc import Iterator
from typing import Final

from fake_plugin.device import Device
from fake_plugin.hardware.accelerator import Profile
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.gpu_instances import ids_of_parts
from fake_plugin.plan import Share
from fake_plugin.vendors import identity, pool_layout

#: The driver's own files, which any program needs beside its GPU's.
CONTROL_FILES: Final = (
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
)
#: Where the GPUs of an eight-GPU server are seen.
_BUSES: Final = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
_DOMAIN: Final = 0x1000
#: How /proc/driver/nvidia-caps/mig-minors counts: two files before the first, for each GPU fifteen
#: GPU instances, for each of these one file and one for each of eight compute instances.
_FIRST_CAP: Final = 3
_CAPS_OF_INSTANCE: Final = 9
_CAPS_OF_GPU: Final = 15 * _CAPS_OF_INSTANCE


def card(node: str, share: Share, index: int, minor: int) -> Card:
    """Return a pool's GPU of that index, as `GPU-<uuid>`."""
    name = identity.of_card(node, share.pool, index)
    return pool_layout.card_of(
        share,
        index,
        minor,
        uid=f"GPU-{name}",
        pci=identity.pci_address(_BUSES, _DOMAIN, minor),
        serial=identity.serial_number(name),
    )


def mig_name(gpu: Card, profile: Profile, index: int) -> str:
    """Return the name of a GPU's `index`-th MIG device, as `MIG-<uuid>`."""
    return f"MIG-{identity.of_part(gpu.uid, profile.name, index)}"


def index_of(device: Device) -> str:
    """Return the number of a device, as NVML counts: 0 for a GPU, 0:1 for a MIG device."""
    if device.partition is None:
        return str(device.card.minor)
    return f"{device.card.minor}:{device.partition.index}"


def files_of(share: Share, device: Device) -> Iterator[str]:
    """Return the device files of a device; a MIG device has its GPU's and two of capabilities.

    These are of its GPU instance, and of compute instance 0, which is all of it.
    """
    yield f"/dev/nvidia{device.card.minor}"
    if device.partition is not None:
        parts = pool_layout.parts_of(share, device.card, mig_name) or ()
        instance = ids_of_parts(parts)[device.unit]
        cap = _FIRST_CAP + device.card.minor * _CAPS_OF_GPU + instance * _CAPS_OF_INSTANCE
        yield f"/dev/nvidia-caps/nvidia-cap{cap}"
        yield f"/dev/nvidia-caps/nvidia-cap{cap + 1}"
