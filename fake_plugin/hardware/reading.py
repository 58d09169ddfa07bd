"""What the driver of a card would tell of it at one moment."""

from dataclasses import dataclass

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.card import Card, Partition


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
    figures of power, energy and temperature, and who adds up takes each card once.
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

    @property
    def unit(self) -> str:
        """Return the name of the hardware: that of the partition, or of the card."""
        return self.partition.uid if self.partition else self.card.uid
