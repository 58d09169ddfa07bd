"""The way to the nodes of a kind cluster: they are containers of the Docker engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lab.cluster.access import (
    ABILITIES,
    DEVICE_PLUGIN_DIR,
    IS_RUNNING,
    LOSE_CHECKPOINT,
    RESTART_KUBELET,
    START_KUBELET,
    STOP_KUBELET,
    Ability,
    journal_command,
)
from lab.host.docker import Docker
from lab.host.processes import Finished

#: A kubelet that does not end by itself is killed by systemd after 90 s.
_SECONDS: Final = 120.0


@dataclass(frozen=True)
class KindAccess:
    """Commands in the nodes' containers; see `lab.cluster.access.NodeAccess`."""

    docker: Docker
    can: frozenset[Ability] = frozenset(ABILITIES)

    def run(
        self, node: str, command: Sequence[str], *, check: bool = True, timeout: float | None = None
    ) -> Finished:
        """See `NodeAccess.run`."""
        return self.docker.execute(node, command, check=check, timeout=timeout)

    def restart_kubelet(self, node: str) -> None:
        """See `NodeAccess.restart_kubelet`."""
        self.run(node, RESTART_KUBELET, timeout=_SECONDS)

    def stop_kubelet(self, node: str) -> None:
        """See `NodeAccess.stop_kubelet`."""
        self.run(node, STOP_KUBELET, timeout=_SECONDS)

    def start_kubelet(self, node: str) -> bool:
        """See `NodeAccess.start_kubelet`."""
        if self.run(node, IS_RUNNING, check=False, timeout=_SECONDS).ok:
            return False
        self.run(node, START_KUBELET, timeout=_SECONDS)
        return True

    def lose_checkpoint(self, node: str) -> None:
        """See `NodeAccess.lose_checkpoint`."""
        self.run(node, LOSE_CHECKPOINT, timeout=_SECONDS)

    def restart(self, node: str) -> None:
        """See `NodeAccess.restart`."""
        self.docker.run("restart", node, timeout=_SECONDS)

    def kubelet_journal(self, node: str, since: datetime | None = None) -> str:
        """See `NodeAccess.kubelet_journal`."""
        return self.run(node, journal_command(since), timeout=_SECONDS).stdout

    def device_plugin_dir(self, node: str) -> str:  # noqa: ARG002 - it is the same on all of them
        """See `NodeAccess.device_plugin_dir`."""
        return DEVICE_PLUGIN_DIR
