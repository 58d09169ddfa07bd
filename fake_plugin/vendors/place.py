"""What a node has for a container beside its devices."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import Mount
from fake_plugin.hardware.accelerator import Vendor


@dataclass(frozen=True)
class HostMount:
    """A path that is there on the node, and where a container gets it, read-only."""

    host_path: str
    container_path: str


@dataclass(frozen=True)
class Place:
    """By vendor, what comes with each of its devices, and the folder of the node's CDI specs.

    A runtime does not start a container whose mount has nothing behind it, so only what is there
    may be named here.
    """

    with_devices: Mapping[Vendor, tuple[HostMount, ...]] = field(default_factory=dict)
    cdi_dir: Path | None = None

    def mounts(self, vendor: Vendor) -> list[Mount]:
        """Return the mounts of every container with a device of the vendor."""
        return [
            Mount(host_path=each.host_path, container_path=each.container_path, read_only=True)
            for each in self.with_devices.get(vendor, ())
        ]


#: A node that has nothing but devices.
BARE: Final = Place()
