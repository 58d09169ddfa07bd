"""How a container is told of its devices: by which names, and through which CDI kinds."""

from typing import Final

from fake_plugin.device import Device
from fake_plugin.plan import Answering
from fake_plugin.vendors.nvidia.hardware import index_of

CDI_VENDOR: Final = "k8s.device-plugin.nvidia.com"
CDI_CLASS: Final = "gpu"


def name_of(how: Answering, device: Device) -> str:
    """Return the UUID of a device or its number; replicas have that of their hardware."""
    return index_of(device) if how.id_strategy == "index" else device.unit


def extras(how: Answering) -> tuple[str, ...]:
    """Return what comes with every GPU, by the names of its CDI classes, in the plugin's order."""
    wanted = {"gdrcopy": how.gdrcopy, "gds": how.gds, "mofed": how.mofed}
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def uses_cdi(how: Answering) -> bool:
    """Tell whether containers are given devices by names that a CDI spec has to explain."""
    return any(each.startswith("cdi-") for each in how.list_strategies)
