"""A node as a machine: its kubelet, its files, its labels and its taints.

What is done to it is undone when the test is over.
"""

from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from lab.cluster.connection import MERGE
from lab.cluster.kubelet_config import KubeletConfig, with_settings
from lab.harness.one_node import PLUGIN_SECONDS, OneNode
from lab.harness.sight import MET, NotYet, Sight, once_answered


@dataclass(frozen=True)
class Machine(OneNode):
    """What a test does to a node, whatever devices are in it."""

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
