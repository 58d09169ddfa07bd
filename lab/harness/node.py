"""A node of a lab, and what a test does to it.

What is done is undone when the test is over: hardware is mended, rules are removed, kubelets are
started, labels and taints are as they were.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, Unpack

from fake_plugin.faults.fault import Call
from lab.cluster.objects import Pod
from lab.cluster.plugin.cards import CardsAdded, CardsMoved
from lab.cluster.plugin.faults import Effect
from lab.cluster.plugin.health import HealthChanged, Reason, Scripted
from lab.cluster.plugin.journal import Call as Recorded
from lab.cluster.plugin.metrics import Sample
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.cluster.plugin.overview import Resource
from lab.cluster.plugin.rules import Rule
from lab.core.counted import counted
from lab.core.errors import CheckFailed
from lab.harness.announced import announced, shown, spoiled
from lab.harness.guests import Host
from lab.harness.machine import PLUGIN_SECONDS, Machine
from lab.harness.sight import MET, NotYet, Sight, once_answered
from lab.install.deployment import NODE_LABEL
from lab.install.status import requested_on

#: How long a node may take to show what its plugin has announced. A kubelet by its own defaults
#: reports every ten seconds.
SHOWN_SECONDS: Final = 60.0


@dataclass(frozen=True)
class NodeHandle(Machine):
    """A node by the cluster's name, and what the fleet has put on it.

    A device is named by its ID, by its card or partition, or by pool and index, as `nvidia/3`.
    Methods raise `UsageError` for what is asked for wrongly, and `NotOffered` for what the backend
    has no way to.

    `break_device`, `mend`, `unplug`, `plug` and `add` return when the node's capacity and
    allocatable are what the plugin has announced; they raise `TimedOut` where that does not come.
    They wait for no resource that the kubelet does not watch, as one that is stopped, nor for one
    whose list meets a fault, that flaps, or that another plugin serves, too. The same methods of
    `plugin` do not wait at all.
    """

    #: Names of resources for which the test has brought another plugin.
    rivals: set[str] = field(default_factory=set, compare=False)

    @property
    def plugin(self) -> NodePlugin:
        """Return its device plugin; what a test changes by it is cleared afterwards."""
        self.afterwards.once("clear", self.name, undo=self._clear)
        return self._plugin

    def put_right(self) -> None:
        """Undo what a killed test has not: kubelet and plugin run, and the hardware is sound.

        Labels, taints and files of the node stay as they are: nobody knows what they were.
        """
        if not self._now().ready:
            self.start_kubelet()
        self.running.client.label_node(self.name, {NODE_LABEL: "true"})

        def look() -> Sight:
            pods = self._plugin_pods()
            # It need not be ready: a rule may keep it from that, which is cleared below.
            runs = any(pod.phase == "Running" and not pod.terminating for pod in pods)
            return MET if runs else NotYet("there is no pod of it that runs")

        self._require(look, "the plugin did not start", PLUGIN_SECONDS)
        self._clear()
        self.wait_for_plugin(set())

    def _clear(self) -> None:
        """Have its hardware sound, and the plugin say so: else by a new start.

        One that is sticky does not; nor does a list that has met a rule, which goes by it to its
        end.
        """
        self._plugin.clear()
        ill = any(each.healthy < each.count for each in self.resources())
        if ill or spoiled(self.reading.open_calls()):
            self.restart_plugin()

    @property
    def host(self) -> Host:
        """Return what makes pods that are device plugins, too, beside the lab's own."""
        images = [image for pod in self._plugin_pods() for image in pod.images]
        if not images:
            raise CheckFailed("the node has no plugin whose image could be used", where=self.title)
        return Host(self.name, self.access.device_plugin_dir(self.name), images[0])

    def break_device(
        self, *devices: str, within: float = SHOWN_SECONDS, **reason: Unpack[Reason]
    ) -> HealthChanged:
        """Break devices, for no reason or with `xid`, `ecc` or `code`; return when it shows."""
        changed = self.plugin.break_device(*devices, **reason)
        self._wait_until_shown(within)
        return changed

    def mend(self, *devices: str, within: float = SHOWN_SECONDS) -> HealthChanged:
        """Mend devices; return when the node shows it."""
        changed = self.plugin.mend(*devices)
        self._wait_until_shown(within)
        return changed

    def flap(
        self, *devices: str, times: int, every: float, **reason: Unpack[Reason]
    ) -> HealthChanged:
        """Break and mend devices in turn, `times` in all, every so many seconds; do not wait."""
        return self.plugin.flap(*devices, times=times, every=every, **reason)

    def script(self, steps: Sequence[Mapping[str, object]]) -> Scripted:
        """Have devices break and mend by the clock, counted from now; do not wait.

        Steps are as in `health.script` of a fleet file, as in `[{"at": "2s", "device": 0,
        "becomes": "unhealthy", "xid": 79}, {"at": "9s", "device": 0, "becomes": "healthy"}]`, and
        need no `node` where the node has one name in the fleet. With one that is wrong, none comes.
        """
        node = {"node": self.members[0].name} if len(self.members) == 1 else {}
        return self.plugin.script([node | dict(each) for each in steps])

    def unplug(self, *devices: str, within: float = SHOWN_SECONDS) -> CardsMoved:
        """Take the cards of devices out of the plugin's list; return when the node shows it."""
        moved = self.plugin.unplug(*devices)
        self._wait_until_shown(within)
        return moved

    def plug(self, *cards: str, within: float = SHOWN_SECONDS) -> CardsMoved:
        """Put cards back that were unplugged; return when the node shows it."""
        moved = self.plugin.plug(*cards)
        self._wait_until_shown(within)
        return moved

    def add(self, pool: str, count: int, *, within: float = SHOWN_SECONDS) -> CardsAdded:
        """Add cards to a pool of the node, beyond its count; return when the node shows it."""
        added = self.plugin.add(pool, count)
        self._wait_until_shown(within)
        return added

    def _wait_until_shown(self, within: float) -> None:
        """Wait until the node shows what its plugin has announced; raises `TimedOut`."""

        @once_answered
        def look() -> Sight:
            facts, calls = self.reading.facts(), self.reading.open_calls()
            return shown(self._now(), announced(facts, calls, self.rivals))

        name = self.running.record.name
        with self.view.waiting.of(f"node {self.title}: shows what its plugin has announced"):
            self.view.require(
                look,
                within,
                "the node did not show what its plugin has announced",
                where=self.title,
                remedy="what was asked of the devices is done; see what the kubelet was told, and "
                "whether it reports",
                commands=(
                    f"gpulab journal --node {self.name} --name {name}",
                    f"gpulab status --name {name}",
                ),
            )

    def fault(self, call: Call, **effect: Unpack[Effect]) -> Rule:
        """Make a rule by which calls go wrong, as in `fault("Allocate", nth=1, fails="busy")`."""
        return self.plugin.fault(call, **effect)

    def lift(self, rule: Rule) -> None:
        """Remove a rule; the calls that it holds go on."""
        self.plugin.remove_fault(rule.fault.id)

    def wait_for_open(self, call: Call, *, within: float = 30) -> None:
        """Wait until the kubelet waits for an answer to such a call; raises `TimedOut`."""

        @once_answered
        def look() -> Sight:
            waiting = [each.call for each in self.reading.open_calls()]
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

    def metrics(self) -> tuple[Sample, ...]:
        """Return its metrics as they are now, those of all vendors' exporters."""
        return self.reading.metrics()

    def remove_socket(self, resource: str = "") -> None:
        """Remove the socket of a resource from under its plugin."""
        self.plugin.remove_socket(resource or self.resource)

    def restart_plugin(self, *, within: float = PLUGIN_SECONDS) -> None:
        """Delete the plugin's pod, and wait until another one serves all resources."""
        self.wait_for_plugin(self.delete_plugin(), within)

    def delete_plugin(self) -> AbstractSet[str]:
        """Delete the plugin's pod; return its UID, which `wait_for_plugin` takes."""
        before = self._plugin_pods()
        for pod in before:
            self.running.client.delete(pod.naming)
        return {pod.uid for pod in before}

    def kill_plugin(self, *, within: float = PLUGIN_SECONDS) -> None:
        """End the plugin's process as if it were killed, and wait until it serves the node again.

        Its sockets stay, and calls break off. The kubelet starts its container again in the same
        pod, each time later than the last: a new pod takes its place when the test is over. Raises
        `CheckFailed` where there is no such pod, or more than one.
        """
        before = self._only_plugin_pod()
        self.afterwards.once("killed", self.name, undo=self.restart_plugin)
        self._plugin.crash()

        def look() -> Sight:
            pods = self._plugin_pods()
            if len(pods) == 1 and pods[0].restarts > before.restarts and pods[0].ready:
                return MET
            return NotYet(_starts(pods) or "it has no pod")

        self._require(look, "the plugin did not serve the node again", within)

    def _only_plugin_pod(self) -> Pod:
        pods = self._plugin_pods()
        if len(pods) == 1:
            return pods[0]
        raise CheckFailed(
            f"the node has {counted(len(pods), 'pod')} of the plugin, and one can be killed",
            where=self.title,
            seen=_starts(pods),
            remedy="start it, or wait until it is the only one, before it is killed",
            commands=(f"gpulab status --name {self.running.record.name}",),
        )

    def stop_plugin(self, *, within: float = PLUGIN_SECONDS) -> None:
        """Let the DaemonSet have no pod here, until `start_plugin`."""
        self.afterwards.once("plugin", self.name, undo=self.start_plugin)
        self.running.client.label_node(self.name, {NODE_LABEL: None})

        def look() -> Sight:
            pods = self._plugin_pods()
            return NotYet(f"there is still {pods[0].name}") if pods else MET

        self._require(look, "the plugin did not leave the node", within)

    def start_plugin(self, *, within: float = PLUGIN_SECONDS) -> None:
        """Let the plugin come back, and wait until it serves all resources."""
        self.running.client.label_node(self.name, {NODE_LABEL: "true"})
        self.wait_for_plugin(set(), within)

    def wait_for_plugin(self, not_these: AbstractSet[str], within: float = PLUGIN_SECONDS) -> None:
        """Wait until a plugin serves all resources whose pod has none of these UIDs."""

        def look() -> Sight:
            pods = self._plugin_pods()
            if any(pod.ready and not pod.terminating and pod.uid not in not_these for pod in pods):
                return MET
            return NotYet(", ".join(f"{pod.name}: {pod.phase} {pod.waiting}" for pod in pods))

        self._require(look, "the plugin did not serve the node", within)


def _starts(pods: Sequence[Pod]) -> str:
    """Return of each pod how often it was started again, and whether it is ready."""
    return ", ".join(f"{pod.name}: {pod.restarts} restarts, ready: {pod.ready}" for pod in pods)
