"""The programs on the node, and how a container gets them."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fake_plugin.files.replacement import remove_abandoned, replace
from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.smi import table
from fake_plugin.vendors.place import HostMount

#: Where the folder of the table is in a container.
UNITS_FOLDER: Final = "/run/gpu-lab"
#: Each vendor's tool, and the parts that it is put together from: a program is one file.
PROGRAMS: Final[Mapping[Vendor, str]] = MappingProxyType(
    {"nvidia": "nvidia-smi", "amd": "rocm-smi", "ascend": "npu-smi"}
)
_PARTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "nvidia-smi": ("units.sh", "nvidia-table.sh", "nvidia-query.sh", "nvidia-smi.sh"),
        "rocm-smi": ("units.sh", "rocm-smi.sh"),
        "npu-smi": ("units.sh", "npu-smi.sh"),
    }
)
_HERE: Final = Path(__file__).parent
_PROGRAMS_FOLDER: Final = "bin"
_TABLE_FOLDER: Final = "units"
_EXECUTABLE_BY_ALL: Final = 0o755
_NOT_ALL_USED: Final = "# shellcheck disable=SC2034 # a program reads some of the fields"


def mounts(vendor: Vendor, host_folder: str | Path) -> tuple[HostMount, ...]:
    """Return what a container with devices of `vendor` needs.

    `host_folder` is the folder of `install`, as the node calls it.
    """
    program = PROGRAMS[vendor]
    host = Path(host_folder)
    return (
        HostMount(str(host / _PROGRAMS_FOLDER / program), f"/usr/bin/{program}"),
        HostMount(str(host / _TABLE_FOLDER), UNITS_FOLDER),
    )


def install(folder: Path) -> None:
    """Write the programs, and make the folder of the table, which a mount needs to be there.

    Raises OSError where the node does not let it be done. A program is replaced whole: one that
    runs goes on as it was.
    """
    programs = folder / _PROGRAMS_FOLDER
    programs.mkdir(parents=True, exist_ok=True)
    table_folder(folder).mkdir(exist_ok=True)
    for each in (programs, table_folder(folder)):
        remove_abandoned(each)
    for program in _PARTS:
        replace(programs / program, [text(program)], _EXECUTABLE_BY_ALL)


def table_folder(folder: Path) -> Path:
    """Return where `table.write` is to write."""
    return folder / _TABLE_FOLDER


def text(program: str, units: str = f"{UNITS_FOLDER}/{table.NAME}") -> str:
    """Return the program, which reads its table at the path `units`."""
    quoted = "'" + units.replace("'", "'\\''") + "'"
    head = f"#!/bin/sh\n{_NOT_ALL_USED}\nunits={quoted}\ntable_format={table.FORMAT}\n"
    return head + "".join((_HERE / part).read_text(encoding="utf-8") for part in _PARTS[program])
