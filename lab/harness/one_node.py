"""One node that a test works on: which it is, and the ways to it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from lab.cluster.access import NodeAccess
from lab.cluster.objects import Node, Pod
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.core.errors import CheckFailed, UsageError
from lab.core.fleet import FleetNode
from lab.harness.afterwards import Afterwards
from lab.harness.sight import Sight
from lab.harness.view import View
from lab.install.nodes import LabNode
from lab.install.seats import Seat, node_plugin
from lab.install.status import RunningLab

#: How long a plugin may take to serve its node.
PLUGIN_SECONDS: Final = 90.0


@dataclass(frozen=True)
class OneNode:
    """A node by the cluster's name, and its members in the fleet."""

    running: RunningLab
    view: View
    afterwards: Afterwards
    name: str
    members: tuple[FleetNode, ...]

    @property
    def title(self) -> str:
        """Return the fleet's names and the cluster's, as `nvidia-0 (gpu-lab-worker)`."""
        return self._seat.title

    @property
    def resource(self) -> str:
        """The one resource of the node; raises `UsageError` where it has several."""
        return only_resource(self.members, f"the node {self.name}")

    @property
    def access(self) -> NodeAccess:
        """What else the backend can do to a node, and `can`, which says what that is."""
        return self.running.access

    @property
    def reading(self) -> NodePlugin:
        """Return its device plugin, to be asked and not to be told anything."""
        return self._plugin

    @property
    def _plugin(self) -> NodePlugin:
        """Return its device plugin; who changes something by it sees to how that is undone."""
        return node_plugin(self.running, self._seat)

    @property
    def _seat(self) -> Seat:
        return Seat(self.name, tuple(each.name for each in self.members))

    @property
    def _node(self) -> LabNode:
        return LabNode(self.running, self.name, self._seat.members)

    def run(self, *command: str) -> str:
        """Run a command on the node as root, and return what it prints."""
        return self.access.run(self.name, command).stdout

    def _now(self) -> Node:
        found = self.view.nodes.get(self.name)
        if found is None:
            raise CheckFailed(f"there is no node {self.name} any more", where=self.title)
        return found

    def _plugin_pods(self) -> Sequence[Pod]:
        return [pod for pod in self.view.plugins.all() if pod.node == self.name]

    def _require(self, look: Callable[[], Sight], what: str, within: float) -> None:
        self.view.require(
            look,
            within,
            what,
            where=self.title,
            remedy="see what it says",
            commands=(f"gpulab logs {self.name} --name {self.running.record.name}",),
        )


def only_resource(nodes: tuple[FleetNode, ...], whose: str) -> str:
    """Return the resource of these nodes; raises `UsageError` where there are several."""
    names = sorted({name for each in nodes for name in each.devices})
    if len(names) == 1:
        return names[0]
    raise UsageError(
        f"{whose} has several resources: say which is meant",
        seen=", ".join(names),
        remedy="give the name of the resource",
    )
