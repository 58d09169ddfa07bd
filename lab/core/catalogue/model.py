"""A model of accelerator with all its figures, and how it can be cut up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fake_plugin.hardware.accelerator import Accelerator, Profile
from fake_plugin.hardware.accelerator import Vendor as PluginVendor
from lab.core.catalogue.figure import Figure

#: `other` are vendors whose plugins the lab does not imitate: of them there are figures only.
Vendor: TypeAlias = PluginVendor | Literal["other"]


@dataclass(frozen=True)
class Cut:
    """The slices of a card, the profiles that take them, and layouts that have a name.

    `layouts` has, by name, how many partitions of each profile.
    """

    compute: int
    memory: int
    profiles: tuple[Profile, ...]
    layouts: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Model:
    """A model; figures are of one device that a pod can ask for.

    `product` is what the vendor's tools print. Rates are in TFLOPS, `memory` in GB, `bandwidth` in
    GB/s, `power` in W; `memory_mib` is what the driver shows, in MiB.
    """

    name: str
    vendor: Vendor
    product: str
    architecture: str
    devices_per_package: int
    fp16: Figure
    bf16: Figure
    fp8: Figure
    memory: Figure
    bandwidth: Figure
    memory_mib: Figure
    power: Figure
    cut: Cut | None = None

    def accelerator(self) -> Accelerator | None:
        """Return what a node has to know of the model, or None where no plugin imitates it."""
        if self.vendor == "other":
            return None
        cut = self.cut or Cut(0, 0, (), {})
        return Accelerator(
            name=self.name,
            vendor=self.vendor,
            product=self.product,
            memory_mib=_whole(self.memory_mib),
            power_watts=_whole(self.power),
            architecture=self.architecture,
            compute_slices=cut.compute,
            memory_slices=cut.memory,
            profiles=cut.profiles,
        )


def _whole(figure: Figure) -> int | None:
    known = figure.known()
    return None if known is None else int(known)
