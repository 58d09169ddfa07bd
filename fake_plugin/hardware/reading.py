"""What the driver of a card would tell of it at one moment."""

from dataclasses import dataclass
from typing import Final

from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition

#: Xid 79: the GPU has fallen off the bus (NVIDIA's list of Xid errors).
LOST: Final = Breakage("xid", "79")


@dataclass(frozen=True, slots=True)
class Holder:
    """A container that holds a device, as the kubelet's pod-resources API names it."""

    namespace: str
    pod: str
    container: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The figures of one unit of hardware; None is not known, and is never emitted as a number.

    There is one per card that is whole and one per partition, however many replicas stand for it.
    `utilization` is 0 to 1. Sensors belong to the card: every partition of it carries the same
    figures of power, energy, temperature, clocks and traffic, and who adds up takes each card once.
    """

    card: Card
    partition: Partition | None
    healthy: bool
    breakage: Breakage | None
    holders: tuple[Holder, ...]
    utilization: float
    memory_used_mib: int | None
    memory_total_mib: int | None
    power_watts: float | None
    energy_joules: float | None
    temperature_celsius: int | None
    memory_temperature_celsius: int | None
    #: How busy the card is as a whole, 0 to 1: its partitions by their share of the cores.
    card_utilization: float = 0.0
    #: What the driver keeps for itself: neither used nor free.
    memory_reserved_mib: int | None = None
    clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    #: The integral of the card's utilisation: a card at one half has 30 more after a minute.
    busy_seconds: float | None = None

    @property
    def unit(self) -> str:
        """Return the name of the hardware: that of the partition, or of the card."""
        return self.partition.uid if self.partition else self.card.uid

    @property
    def vendor(self) -> Vendor | None:
        """Return whose hardware it is, None for a plain device."""
        return self.card.model.vendor if self.card.model else None

    @property
    def is_lost(self) -> bool:
        """Whether the card no longer answers its driver: there is nothing to read from it."""
        return self.breakage == LOST
