"""A node of a lab, and what a test does to it.

What is done is undone when the test is over: hardware is mended, rules are removed, kubelets are
started, labels and taints are as they were.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Final, Unpack

from pydantic import JsonValue

from fake_plugin.faults.fault import Call
from lab.cluster.access import NodeAccess
from lab.cluster.kubelet_config import KubeletConfig, with_settings
from lab.cluster.objects import Node, Pod
from lab.cluster.plugin.cards import CardsAdded, CardsMoved
from lab.cluster.plugin.faults import Effect
from lab.cluster.plugin.health import HealthChanged, Reason
from lab.cluster.plugin.journal import Call as Recorded
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.cluster.plugin.overview import Resource
from lab.cluster.plugin.rules import Rule
from lab.core.errors import CheckFailed, TimedOut, UsageError
from lab.core.fleet import FleetNode
from lab.harness.afterwards import Afterwards
from lab.harness.guests import Host
from lab.harness.sight import MET, NotYet, Sight
from lab.harness.view import View
from lab.install.deployment import NODE_LABEL
from lab.install.nodes import LabNode
from lab.install.seats import Seat, node_plugin
from lab.install.status import RunningLab, requested_on

_PLUGIN_SECONDS: Final = 90.0


@dataclass(frozen=True)
class NodeHandle:
    """A node by the cluster's name, and what the fleet has put on it.

    A device is named by its ID, by its card or partition, or by pool and index, as `nvidia/3`.
    Methods raise `UsageError` for what is asked for wrongly, and `NotOffered` for what the backend
    has no way to.
    """

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
    def plugin(self) -> NodePlugin:
        """Return its device plugin; what a test changes by it is cleared afterwards."""
        plugin = node_plugin(self.running, self._seat)
        self.afterwards.once("clear", self.name, undo=plugin.clear)
        return plugin

    @property
    def host(self) -> Host:
        """Return what makes pods that are device plugins, too, beside the lab's own."""
        images = [image for pod in self._plugin_pods() for image in pod.images]
        if not images:
            raise CheckFailed("the node has no plugin whose image could be used", where=self.title)
        return Host(self.name, self.access.device_plugin_dir(self.name), images[0])

    @property
    def _seat(self) -> Seat:
        return Seat(self.name, tuple(each.name for each in self.members))

    @property
    def _node(self) -> LabNode:
        return LabNode(self.running, self.name, self._seat.members)

    def break_device(self, *devices: str, **reason: Unpack[Reason]) -> HealthChanged:
        """Break devices: for no reason, or with `xid`, `ecc` or `code`."""
        return self.plugin.break_device(*devices, **reason)

    def mend(self, *devices: str) -> HealthChanged:
        """Mend devices."""
        return self.plugin.mend(*devices)

    def flap(
        self, *devices: str, times: int, every: float, **reason: Unpack[Reason]
    ) -> HealthChanged:
        """Break and mend devices in turn, `times` in all, every so many seconds; do not wait."""
        return self.plugin.flap(*devices, times=times, every=every, **reason)

    def unplug(self, *devices: str) -> CardsMoved:
        """Take the cards of devices out of the node: they are no longer in the plugin's list."""
        return self.plugin.unplug(*devices)

    def plug(self, *cards: str) -> CardsMoved:
        """Put cards back that were unplugged."""
        return self.plugin.plug(*cards)

    def add(self, pool: str, count: int) -> CardsAdded:
        """Add cards to a pool of the node, beyond its count."""
        return self.plugin.add(pool, count)

    def fault(self, call: Call, **effect: Unpack[Effect]) -> Rule:
        """Make a rule by which calls go wrong, as in `fault("Allocate", nth=1, fails="busy")`."""
        return self.plugin.fault(call, **effect)

    def lift(self, rule: Rule) -> None:
        """Remove a rule; the calls that it holds go on."""
        self.plugin.remove_fault(rule.fault.id)

    def wait_for_open(self, call: Call, *, within: float = 30) -> None:
        """Wait until the kubelet waits for an answer to such a call; raises `TimedOut`."""

        def look() -> Sight:
            waiting = [each.call for each in self.reading.journal().open]
            return MET if call in waiting else NotYet(f"open calls: {', '.join(waiting) or 'none'}")

        self._require(look, f"no {call} was left open", within)

    def calls(self, call: str = "", resource: str = "") -> tuple[Recorded, ...]:
        """Return the calls between kubelet and plugin that have ended, oldest first.

        Of one name or one resource, where these are given. The journal begins with the plugin.
        """
        ended = (each for each in self.reading.journal().calls if each.code)
        return tuple(
            each for each in ended if call in {"", each.call} and resource in {"", each.resource}
        )

    def requested(self, resource: str = "") -> int:
        """Return how many devices the pods of the node ask for, in all namespaces together."""
        pods = self.running.client.pods()
        return requested_on(self.name, pods)[resource or self.resource]

    def resources(self) -> tuple[Resource, ...]:
        """Return the resources that its plugin serves, with all their devices."""
        return self.reading.facts().resources

    @property
    def reading(self) -> NodePlugin:
        """Return its device plugin, to be asked and not to be told anything."""
        return node_plugin(self.running, self._seat)

    def remove_socket(self, resource: str = "") -> None:
        """Remove the socket of a resource from under its plugin."""
        self.plugin.remove_socket(resource or self.resource)

    def restart_plugin(self, *, within: float = _PLUGIN_SECONDS) -> None:
        """Delete the plugin's pod, and wait until another one serves all resources."""
        self.wait_for_plugin(self.delete_plugin(), within)

    def delete_plugin(self) -> AbstractSet[str]:
        """Delete the plugin's pod; return its UID, which `wait_for_plugin` takes."""
        before = self._plugin_pods()
        for pod in before:
            meta = {"name": pod.name, "namespace": pod.namespace}
            self.running.client.delete({"apiVersion": "v1", "kind": "Pod", "metadata": meta})
        return {pod.uid for pod in before}

    def kill_plugin(self, *, within: float = _PLUGIN_SECONDS) -> None:
        """Kill the plugin's process where it stands, and wait until it serves all resources again.

        The kubelet starts its container again in the same pod. Needs the ability `run`.
        """
        (before,) = self._plugin_pods()
        own = f"--label=io.kubernetes.pod.uid={before.uid}"
        self.run("crictl", "stop", *self.run("crictl", "ps", "--quiet", own).split())

        def look() -> Sight:
            (now,) = self._plugin_pods()
            if now.restarts > before.restarts and now.ready:
                return MET
            return NotYet(f"{now.name}: {now.restarts} restarts, ready: {now.ready}")

        self._require(look, "the plugin did not serve the node again", within)

    def stop_plugin(self, *, within: float = _PLUGIN_SECONDS) -> None:
        """Let the DaemonSet have no pod here, until `start_plugin`."""
        self.afterwards.once("plugin", self.name, undo=self.start_plugin)
        self.running.client.label_node(self.name, {NODE_LABEL: None})

        def look() -> Sight:
            pods = self._plugin_pods()
            return NotYet(f"there is still {pods[0].name}") if pods else MET

        self._require(look, "the plugin did not leave the node", within)

    def start_plugin(self, *, within: float = _PLUGIN_SECONDS) -> None:
        """Let the plugin come back, and wait until it serves all resources."""
        self.running.client.label_node(self.name, {NODE_LABEL: "true"})
        self.wait_for_plugin(set(), within)

    def wait_for_plugin(self, not_these: AbstractSet[str], within: float = _PLUGIN_SECONDS) -> None:
        """Wait until a plugin serves all resources whose pod has none of these UIDs."""

        def look() -> Sight:
            pods = self._plugin_pods()
            if any(pod.ready and not pod.terminating and pod.uid not in not_these for pod in pods):
                return MET
            return NotYet(", ".join(f"{pod.name}: {pod.phase} {pod.waiting}" for pod in pods))

        self._require(look, "the plugin did not serve the node", within)

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

        def look() -> Sight:
            facts = self.reading.facts()
            late = [each.name for each in facts.resources if not each.registered]
            return MET if facts.ready else NotYet(f"not registered: {', '.join(late)}")

        self._require(look, "the plugin did not register again", _PLUGIN_SECONDS)

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
        outcome = self.view.until(look, within)
        if not outcome.is_met:
            raise TimedOut(
                f"{what} within {within:g} s",
                where=self.title,
                seen=outcome.seen,
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
