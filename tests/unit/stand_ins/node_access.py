"""A way to nodes whose kubelets report to a `FakeApi` when they start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lab.cluster.access import ABILITIES, DEVICE_PLUGIN_DIR, Ability, NotOffered
from lab.core.errors import Interrupted
from lab.host.processes import Finished
from tests.unit.stand_ins.api_server import FakeApi, node

#: When a kubelet reports that was started here: later than what `node` says by itself.
LATER = "2026-12-01T10:00:09Z"


@dataclass
class FakeAccess:
    """What was done to the nodes, in order.

    `mute` kubelets never report; with `interrupts`, a stop is one.
    """

    api: FakeApi
    can: frozenset[Ability] = frozenset(ABILITIES)
    done: list[str] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)
    mute: bool = False
    interrupts: bool = False

    def run(
        self, node: str, command: Sequence[str], *, check: bool = True, timeout: float | None = None
    ) -> Finished:
        """Do nothing, well."""
        self.done.append(f"run {node} {' '.join(command)} {check} {timeout}")
        return Finished(tuple(command), 0, "", "", 0.0)

    def restart_kubelet(self, node: str) -> None:
        """Let a kubelet report again."""
        self._do("restart_kubelet", node)
        self._report(node)

    def stop_kubelet(self, node: str) -> None:
        """Silence a kubelet."""
        self._do("stop_kubelet", node)
        self.stopped.add(node)
        if self.interrupts:
            raise Interrupted("interrupted by SIGINT")

    def start_kubelet(self, node: str) -> bool:
        """Let a kubelet that was stopped report."""
        self._do("start_kubelet", node)
        if node not in self.stopped:
            return False
        self.stopped.remove(node)
        self._report(node)
        return True

    def lose_checkpoint(self, node: str) -> None:
        """Remove nothing."""
        self._do("lose_checkpoint", node)

    def restart(self, node: str) -> None:
        """Let a node's kubelet report, whether it was stopped or not."""
        self._do("restart", node)
        self.stopped.discard(node)
        self._report(node)

    def kubelet_journal(self, node: str, since: datetime | None = None) -> str:
        """Return a line."""
        self._do("kubelet_journal", node)
        return f"{node} since {since}\n"

    def device_plugin_dir(self, node: str) -> str:
        """Return the usual folder."""
        assert node
        return DEVICE_PLUGIN_DIR

    def _do(self, ability: Ability, node: str) -> None:
        if ability not in self.can:
            raise NotOffered("fake", ability, why="it is not in `can`", instead="ask for another")
        self.done.append(f"{ability} {node}")

    def _report(self, name: str) -> None:
        if not self.mute:
            self.api.add(node(name, devices=2, heard=LATER))
