"""Devices as plugins list them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import Device as DeviceMessage

#: The one word that makes a device healthy; every other text, "healthy" among them, does not.
HEALTHY: Final = "Healthy"


@dataclass(frozen=True, slots=True)
class Device:
    """`numa` are the NUMA nodes that it is near to; None where the plugin gives no topology."""

    id: str
    health: str
    numa: tuple[int, ...] | None = None

    @property
    def is_healthy(self) -> bool:
        """Whether a container may get it."""
        return self.health == HEALTHY


def read_devices(messages: Iterable[DeviceMessage]) -> list[Device]:
    """Return the devices of a list, in its order."""
    return [Device(each.ID, each.health, _numa(each)) for each in messages]


def _numa(message: DeviceMessage) -> tuple[int, ...] | None:
    if not message.HasField("topology"):
        return None
    return tuple(node.ID for node in message.topology.nodes)
