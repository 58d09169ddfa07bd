"""Nodes of a lab that are restarted from outside, and the wait until they are Ready again.

What the API server has of a node whose kubelet has gone is what that kubelet said last, for 40
seconds and more. So the kubelet is stopped first, and only what comes after its last word counts.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lab.core.errors import TimedOut, UsageError
from lab.core.fleet import Fleet
from lab.install.status import RunningLab

#: How long a node may take until it is Ready again.
READY_SECONDS: Final = 120.0
_SHOWN: Final = 12


@dataclass(frozen=True)
class LabNode:
    """A node of a lab's cluster; `members` are the fleet's names for it, none outside of it."""

    lab: RunningLab
    name: str
    members: tuple[str, ...]

    @classmethod
    def named(cls, lab: RunningLab, name: str) -> "LabNode":
        """Return the node that the fleet or the cluster calls so; raises `UsageError`."""
        fleet = lab.folder.placed_fleet() or Fleet(())
        nodes = [node.name for node in lab.client.nodes()]
        found = fleet.node_named(name) or name
        if found not in nodes:
            known = [*(each.name for each in fleet.nodes()), *nodes]
            raise UsageError(
                f"the lab has no node {name!r}",
                seen=f"nodes that it has: {', '.join(known[:_SHOWN])}",
                remedy="name one of these",
            )
        return cls(lab, found, tuple(each.name for each in fleet.by_node().get(found, ())))

    @property
    def title(self) -> str:
        """Return all of its names, as `nvidia-0 (gpu-lab-worker)`."""
        return f"{', '.join(self.members)} ({self.name})" if self.members else self.name

    def stop_kubelet(self) -> None:
        """Stop its kubelet; what runs on the node runs on."""
        self.lab.access.stop_kubelet(self.name)

    def start_kubelet(self, timeout: float = READY_SECONDS) -> bool:
        """Start its kubelet, and wait until the node is Ready; return whether it was stopped."""
        last = self._last_word()
        stopped = self.lab.access.start_kubelet(self.name)
        if stopped:
            self._wait(last, timeout)
        return stopped

    def restart_kubelet(self, timeout: float = READY_SECONDS) -> None:
        """Restart its kubelet, and wait until the node is Ready again."""
        if "stop_kubelet" in self.lab.access.can:
            self._silence()
            self.start_kubelet(timeout)
            return
        last = self._last_word()
        self.lab.access.restart_kubelet(self.name)
        self._wait(last, timeout)

    def restart(self, timeout: float = READY_SECONDS) -> None:
        """Restart the node, and wait until it is Ready again."""
        if {"restart", "stop_kubelet"} <= self.lab.access.can:
            self._silence()
        last = self._last_word()
        self.lab.access.restart(self.name)
        self._wait(last, timeout)

    def _silence(self) -> None:
        """Stop the kubelet; where that is interrupted, it is started again."""
        try:
            self.lab.access.stop_kubelet(self.name)
        except BaseException:
            self.lab.access.start_kubelet(self.name)
            raise

    def _last_word(self) -> datetime | None:
        """Return when the kubelet has reported last; its next word will be of another second."""
        (node,) = (each for each in self.lab.client.nodes() if each.name == self.name)
        age = (datetime.now(UTC) - node.heard).total_seconds() if node.heard else 1.0
        # The API tells no more than the second, in which a kubelet can be stopped and started.
        time.sleep(min(1.0, max(0.0, 1.0 - age)))
        return node.heard

    def _wait(self, last: datetime | None, timeout: float) -> None:
        ends = time.monotonic() + timeout
        # The node may be the one that the API server runs on.
        self.lab.client.wait_until_it_answers(timeout)
        for nodes in self.lab.client.node_changes(max(0.0, ends - time.monotonic())):
            node = next((each for each in nodes if each.name == self.name), None)
            if node and node.ready and node.heard != last:
                return
        heard = f"{node.heard:%H:%M:%S} UTC" if node and node.heard else "never"
        raise TimedOut(
            f"the node was not Ready again within {timeout:g} s",
            where=self.title,
            seen=f"Ready: {bool(node and node.ready)}; its kubelet reported last: {heard}",
            remedy="see what the lab looks like; a kubelet that is stopped can be started",
            commands=(
                f"gpulab status --name {self.lab.record.name}",
                f"gpulab node start-kubelet {self.name} --name {self.lab.record.name}",
            ),
        )
