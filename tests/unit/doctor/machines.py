"""Machines that the checks are given."""

from dataclasses import replace
from pathlib import Path
from typing import Final

from lab.core.errors import NotReady
from lab.host.checks.machine import Disk, Machine
from lab.host.docker import Engine

GIB: Final = 1024**3

ENGINE: Final = Engine(
    version="28.3.2",
    host="laptop",
    memory=8 * GIB,
    cgroup_version=2,
    data_root=Path("/var/lib/docker"),
)

#: A machine on which nothing is wrong; its kernel says nothing.
SOUND: Final = Machine(
    system="Linux",
    host="laptop",
    python=(3, 11),
    environment={},
    proc=Path("/nowhere"),
    engine=ENGINE,
    disk=Disk(total=100 * GIB, free=50 * GIB),
)

WITHOUT_DOCKER: Final = replace(
    SOUND, engine=NotReady("no Docker engine answers", remedy="start it"), disk=None
)
#: Two machines whose nodes run elsewhere.
MAC: Final = replace(
    SOUND, system="Darwin", host="mac.local", engine=replace(ENGINE, host="docker-desktop")
)
REMOTE: Final = replace(SOUND, engine=replace(ENGINE, host="server", memory=GIB), disk=None)


def with_kernel(folder: Path, files: dict[str, str], machine: Machine = SOUND) -> Machine:
    """Return the machine with a /proc of these files, below a folder of the test."""
    for name, text in files.items():
        path = folder / "proc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return replace(machine, proc=folder / "proc")
