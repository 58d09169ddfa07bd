"""The versions of the drivers that the fake hardware is driven by: one set for all that tell them.

They are of releases that know every model of the catalogue's time, and nothing depends on them.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fake_plugin.hardware.accelerator import Vendor

#: NVIDIA: driver and CUDA. AMD: amdgpu and ROCm. Ascend: the driver, which is npu-smi's version.
DRIVERS: Final[Mapping[Vendor, tuple[str, str]]] = MappingProxyType(
    {
        "nvidia": ("570.133.20", "12.8"),
        "amd": ("6.10.5", "6.3.3"),
        "ascend": ("25.2.0", "8.3.RC2"),
    }
)
