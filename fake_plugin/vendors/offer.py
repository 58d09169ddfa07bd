"""What a vendor makes of a share: resources, their devices, and how a container gets them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device

#: Makes the answer to Allocate for one container. Raises `Refused`.
Answer = Callable[[Sequence[Device]], ContainerAllocateResponse]


class Refused(Exception):
    """Allocate refuses, with the text that the vendor's plugin gives (gRPC status UNKNOWN)."""


@dataclass(frozen=True)
class Offer:
    """One resource of a node, of one pool.

    `spread` says how GetPreferredAllocation chooses among replicas: over as many units as it can,
    or few. `preferred` and `pre_start` are what GetDevicePluginOptions says.
    """

    resource: str
    pool: str
    devices: tuple[Device, ...]
    answer: Answer
    spread: Literal["distributed", "packed"] = "distributed"
    preferred: bool = True
    pre_start: bool = False
