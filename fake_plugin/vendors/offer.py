"""What a vendor makes of a share: resources, their devices, and how a container gets them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device

if TYPE_CHECKING:
    from fake_plugin.cdi.devices import CdiDevices

#: Makes the answer to Allocate for one container. Raises `Refused`.
Answer: TypeAlias = Callable[[Sequence[Device]], ContainerAllocateResponse]
#: How GetPreferredAllocation chooses among devices that share hardware: of as much hardware as can
#: be, or of what is shared already, or all from one piece.
Spread: TypeAlias = Literal["distributed", "packed", "together"]


class Refused(Exception):
    """Allocate refuses, with the text that the vendor's plugin gives (gRPC status UNKNOWN)."""


@dataclass(frozen=True)
class Offer:
    """One resource of a node, of one pool.

    `preferred` and `pre_start` are what GetDevicePluginOptions says. `unit_mib` is how much of a
    card's memory one device stands for, where that is what they are. `cdi` is what a runtime has
    to know of the devices, where containers are given them by name.
    """

    resource: str
    pool: str
    devices: tuple[Device, ...]
    answer: Answer
    spread: Spread = "distributed"
    preferred: bool = True
    pre_start: bool = False
    unit_mib: int | None = None
    cdi: "tuple[CdiDevices, ...]" = ()
