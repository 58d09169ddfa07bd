"""A node as a machine: the ways to it, its kubelet, its files, its labels and its taints.

What is done to it is undone when the test is over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from pydantic import JsonValue

from lab.cluster.access import NodeAccess
from lab.cluster.connection import MERGE
from lab.cluster.kubelet_config import KubeletConfig, with_settings
from lab.cluster.objects import Node, Pod
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.core.errors import CheckFailed, UsageError
from lab.core.fleet import FleetNode
from lab.harness.afterwards import Afterwards
from lab.harness.sight import MET, NotYet, Sight, once_answered
from lab.harness.view import View
from lab.install.nodes import LabNode
from lab.install.seats import Seat, node_plugin
from lab.install.status import RunningLab

#: How long a plugin may take to serve its node.
PLUGIN_SECONDS: Final = 90.0


@dataclass(frozen=True)
class Machine:
    """A node by the cluster's name, its members in the fleet, and what a test does to it."""

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

    def restart_kubelet(self) -> None:
        """Restart its kubelet, and wait until the node is Ready again; containers run on."""
        self._node.restart_kubelet()

    def stop_kubelet(self) -> None:
        """Stop its kubelet, until `start_kubelet`; containers run on."""
        self.afterwards.once("kubelet", self.name, undo=self.start_kubelet)
        self._node.stop_kubelet()

    def start_kubelet(self) -> None:
        """Start its kubelet, and wait until the node is Ready."""
        self._node.start_kubelet()

    def lose_checkpoint(self) -> None:
        """Start its kubelet anew without what it had written down of plugins, devices and pods.

        A resource that it then does not know is shown with all the devices that it had last, be
        they gone or not (kubernetes/kubernetes#114422): names that earlier fleets have left behind
        are taken off the node first. Needs the ability `lose_checkpoint`.
        """
        own = {name for each in self.members for name in each.devices}
        left = dict.fromkeys(self._now().capacity.keys() - own)
        self.stop_kubelet()
        self.access.lose_checkpoint(self.name)
        path = f"/api/v1/nodes/{self.name}/status"
        patch = {"status": {"capacity": left, "allocatable": left}}
        self.running.client.connection.send("PATCH", path, body=patch, content_type=MERGE)
        self.start_kubelet()

    def configure_kubelet(self, **settings: JsonValue) -> None:
        """Have its kubelet start anew with fields of its configuration set otherwise.

        As in `configure_kubelet(topologyManagerPolicy="single-numa-node")`, under the names of
        KubeletConfiguration. Waits until the node is Ready, and its plugin has registered again.
        """
        config = KubeletConfig(self.access, self.name)
        before = config.read()
        undo = partial(self._start_kubelet_with, before)
        self.afterwards.once("configuration", self.name, undo=undo)
        self._start_kubelet_with(with_settings(before, settings))

    def _start_kubelet_with(self, configuration: str) -> None:
        KubeletConfig(self.access, self.name).write(configuration)
        self.restart_kubelet()

        @once_answered
        def look() -> Sight:
            facts = self.reading.facts()
            late = [each.name for each in facts.resources if not each.registered]
            return MET if facts.ready else NotYet(f"not registered: {', '.join(late)}")

        self._require(look, "the plugin did not register again", PLUGIN_SECONDS)

    def restart(self) -> None:
        """Restart the node, and wait until it is Ready again; all of its containers end."""
        self._node.restart()

    def label(self, key: str, value: str) -> None:
        """Set a label of the node."""
        label_node, before = self.running.client.label_node, self._now().labels.get(key)
        undo = partial(label_node, self.name, {key: before})
        self.afterwards.once("label", self.name, key, undo=undo)
        label_node(self.name, {key: value})

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> None:
        """Set a taint of the node."""
        self._set_taint(key, value, effect)

    def untaint(self, key: str, effect: str = "NoSchedule") -> None:
        """Remove a taint of the node, be it the fleet's."""
        self._set_taint(key, None, effect)

    def _set_taint(self, key: str, value: str | None, effect: str) -> None:
        before = {(each[0], each[2]): each[1] for each in self._now().taints}
        change = partial(self.running.client.taint_node, self.name, key, effect=effect)
        undo = partial(change, before.get((key, effect)))
        self.afterwards.once("taint", self.name, key, effect, undo=undo)
        change(value)

    def hide(self, path: str) -> None:
        """Rename a file of the node, so that nobody finds it until `bring_back`."""
        self.afterwards.once("file", self.name, path, undo=partial(self.bring_back, path))
        self.run("mv", path, f"{path}.hidden")

    def bring_back(self, path: str) -> None:
        """Give a hidden file its name again; nothing becomes of one that is there."""
        self.run("sh", "-c", '[ ! -e "$0.hidden" ] || mv "$0.hidden" "$0"', path)

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
