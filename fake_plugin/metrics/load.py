"""How busy a card is, and what follows from that: made up, yet plausible and never random.

Everything is a function of a card, what it does, and the time, so that two who look at one moment
see the same. The only true figures in here are those of the model.
"""

import math
import zlib
from dataclasses import dataclass
from typing import Final

from fake_plugin.hardware.accelerator import Vendor

#: Utilisation of a held card of which the fleet says nothing.
DEFAULT_LOAD: Final = 0.8
#: How far below its load a busy card goes and comes back, and in how many seconds at least.
_SWING: Final = 0.1
_SHORTEST_WAVE: Final = 60
#: An idle card draws this part of its limit.
_IDLE_POWER: Final = 0.12
_IDLE_CELSIUS: Final = 32
_BUSY_CELSIUS: Final = 75
_MEMORY_WARMER: Final = 6
#: The part of the memory that a card in full use has in use, and that the driver keeps.
_MEMORY: Final = 0.9
_RESERVED: Final = 0.006


@dataclass(frozen=True, slots=True)
class Clocks:
    """Frequencies in MHz: of the cores when idle and when busy, and of the memory."""

    idle: int
    busy: int
    memory: int


#: As seen on an A800, an MI300X and an Ascend 910A; a model does not say its own.
CLOCKS: Final[dict[Vendor, Clocks]] = {
    "nvidia": Clocks(210, 1410, 1593),
    "amd": Clocks(132, 2100, 900),
    "ascend": Clocks(1000, 1000, 1600),
}


def utilization(base: float, name: str, now: float) -> float:
    """Return how busy the unit of that name is at `now`, in seconds: at most `base`.

    It swings slowly, each unit at a pace of its own, so that a graph of it moves.
    """
    seed = zlib.crc32(name.encode())
    period = _SHORTEST_WAVE + seed % _SHORTEST_WAVE
    wave = (1 + math.sin(2 * math.pi * (now / period + seed / 2**32))) / 2
    return base * (1 - _SWING * wave)


def power(limit_watts: float, utilization: float) -> float:
    """Return the power in watts: the limit at full use."""
    return limit_watts * (_IDLE_POWER + (1 - _IDLE_POWER) * utilization)


def temperature(utilization: float) -> int:
    """Return the temperature of the chip in °C."""
    return round(_IDLE_CELSIUS + (_BUSY_CELSIUS - _IDLE_CELSIUS) * utilization)


def memory_temperature(utilization: float) -> int:
    """Return the temperature of the memory in °C."""
    return temperature(utilization) + _MEMORY_WARMER


def memory_used(total_mib: int, utilization: float) -> int:
    """Return the memory in use, in MiB."""
    return round(total_mib * _MEMORY * utilization)


def memory_reserved(total_mib: int) -> int:
    """Return what the driver keeps for itself, in MiB."""
    return round(total_mib * _RESERVED)


def clock(clocks: Clocks, utilization: float) -> int:
    """Return the frequency of the cores in MHz: a card that does anything is at its busy one."""
    return clocks.busy if utilization > 0 else clocks.idle
