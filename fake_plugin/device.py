"""What the kubelet is told of: a card, a part of one, or one of the replicas of either."""

from dataclasses import dataclass
from typing import Final

from fake_plugin.hardware.card import Card, Partition

#: The words of the device plugin API for a device's health (constants.go).
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


@dataclass(frozen=True, slots=True)
class Device:
    """A device of a resource; `id` is unique on the node and the same over every restart.

    `replica` counts the devices that stand for one unit, and is None where there is one only.
    """

    id: str
    card: Card
    partition: Partition | None = None
    replica: int | None = None

    @property
    def unit(self) -> str:
        """Return the name of the hardware behind the device: what breaks, and what is shared."""
        return self.partition.uid if self.partition else self.card.uid

    @property
    def numa(self) -> int | None:
        """Return the NUMA node, or None where the fleet does not say."""
        return self.card.numa
