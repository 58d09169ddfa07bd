"""This machine, as the checks see it: plain values, and where the kernel's own are read."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.core.errors import NotReady, TimedOut
from lab.host.docker import Docker, Engine


@dataclass(frozen=True)
class Disk:
    """A file system: its size, and what is free for this user, in bytes."""

    total: int
    free: int


@dataclass(frozen=True)
class Machine:
    """What was measured once for all checks; `proc` is where the kernel's values are read.

    `engine` is the Docker engine, or the error that says why none answers; `disk` is the file
    system that the engine stores on, None where that is not of this machine.
    """

    system: str
    host: str
    python: tuple[int, int]
    environment: Mapping[str, str]
    proc: Path
    engine: Engine | NotReady | TimedOut
    disk: Disk | None

    @classmethod
    def here(cls, docker: Docker) -> "Machine":
        """Measure this machine; takes as long as the engine takes to answer."""
        try:
            engine: Engine | NotReady | TimedOut = docker.engine()
        except (NotReady, TimedOut) as error:
            engine = error
        system, host = platform.system(), platform.node()
        local = isinstance(engine, Engine) and _is_here(engine, system, host)
        return cls(
            system=system,
            host=host,
            python=sys.version_info[:2],
            environment=os.environ,
            proc=Path("/proc"),
            engine=engine,
            disk=_disk(engine.data_root) if local and isinstance(engine, Engine) else None,
        )

    @property
    def elsewhere(self) -> str:
        """Say why this machine's kernel is not the one that nodes run on; empty where it is."""
        if self.system != "Linux":
            return f"not measured: on {self.system} the nodes run in Docker's own machine"
        if isinstance(self.engine, Engine) and not _is_here(self.engine, self.system, self.host):
            return f"not measured: the Docker engine runs on {self.engine.host}, not here"
        return ""

    def kernel(self, name: str) -> str | None:
        """Return a file of /proc, or None where the kernel (or a sandbox) has none such."""
        try:
            return (self.proc / name).read_text()
        except OSError:
            return None


def _is_here(engine: Engine, system: str, host: str) -> bool:
    # Docker Desktop, a remote DOCKER_HOST and a socket mounted into a container all show by the
    # name; the folder alone would not do, for /var/lib/docker can be here and there.
    return system == "Linux" and engine.host == host


def _disk(folder: Path) -> Disk | None:
    try:
        measured = shutil.disk_usage(folder)
    except OSError:
        return None
    return Disk(measured.total, measured.free)
