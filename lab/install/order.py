"""What the user asks of `gpulab up`."""

from dataclasses import dataclass
from pathlib import Path

from lab.core.fleet import Fleet


@dataclass(frozen=True)
class Order:
    """A lab by its name, and what is to be in it.

    `timeout` bounds the wait for devices, in seconds.
    """

    name: str
    fleet: Fleet
    kind_config: Path | None
    node_image: str | None
    timeout: float
