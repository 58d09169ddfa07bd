"""Takes the containers of nodes away, without leaving one that can never end.

On cgroup v1, runc freezes a pod's cgroup for the moment in which it sets a container up. A node
that is killed in that moment keeps a frozen process, and Docker cannot remove it any more: it
"did not receive an exit event". So kubelet and container runtime are stopped first, which lets
such moments pass, and what is frozen all the same is thawed from outside before the next try.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from lab.core.errors import TimedOut
from lab.host.docker import Container, Docker
from lab.host.processes import Finished
from lab.host.side_by_side import side_by_side

FREEZER: Final = Path("/sys/fs/cgroup/freezer")
_STOP: Final = ("systemctl", "stop", "kubelet", "containerd")
_STOP_SECONDS: Final = 10


def remove(docker: Docker, nodes: Sequence[Container], freezer: Path = FREEZER) -> Finished:
    """Remove the nodes with their volumes; return what `docker rm` said, good or bad."""
    with side_by_side(docker.processes) as start:
        for node in nodes:
            if node.running:
                start(partial(_quiet, docker, node))
    removed = docker.run("rm", "-f", "-v", *(node.name for node in nodes), check=False)
    if not removed.ok:
        for node in nodes:
            thaw(node, freezer)
    return removed


def thaw(node: Container, freezer: Path = FREEZER) -> None:
    """Let the frozen processes of a node go on to their end, where this user may do that here."""
    # Elsewhere there is no such folder: cgroup v2 kills what is frozen.
    for state in freezer.glob(f"**/{node.id}/**/freezer.state"):
        with suppress(OSError):
            state.write_text("THAWED")


def _quiet(docker: Docker, node: Container) -> None:
    # A node that is still booting, or is broken, cannot be asked; it is removed all the same.
    with suppress(TimedOut):
        docker.execute(node.name, _STOP, check=False, timeout=_STOP_SECONDS)
