"""A model of accelerator, with what the node has to know of it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Vendor: TypeAlias = Literal["nvidia", "amd", "ascend"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A way to cut a card: a MIG profile, an AMD partition mode, an Ascend vNPU template.

    `most` is how many of it one card can have. `compute` and `memory` are the slices that each
    takes of the card's; `memory_mib` what a container may use, None where it is not known.
    """

    name: str
    most: int
    compute: int
    memory: int
    memory_mib: int | None = None


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A model; None stands for a figure that is not known, and is never read as 0."""

    name: str
    vendor: Vendor
    #: As the vendor's tools print it, such as `NVIDIA H100 80GB HBM3`.
    product: str
    memory_mib: int | None = None
    power_watts: int | None = None
    #: Such as `hopper`, `gfx942`, `910B3`.
    architecture: str | None = None
    compute_slices: int = 0
    memory_slices: int = 0
    profiles: tuple[Profile, ...] = ()

    def profile(self, name: str) -> Profile | None:
        """Return the profile of that name, or None."""
        return next((each for each in self.profiles if each.name == name), None)
