"""Waits until the plugins of a fleet run and the nodes show its devices."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from lab.cluster.objects import Node, Pod
from lab.core.errors import LabError, TimedOut
from lab.core.fleet import Fleet, held_back
from lab.core.progress import Step

if TYPE_CHECKING:
    from lab.cluster.client import Client

NAMESPACE: Final = "kube-system"
SELECTOR: Final = "app=fake-gpu-device-plugin"
#: The annotation by which a pod of this fleet is told from one of the fleet before.
REVISION: Final = "gpu-lab/revision"
_LOG_LINES: Final = 5

#: Devices by resource name by node name.
Wanted = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Rollout:
    """What was deployed: a fleet, the revision that its plugins' pods carry, the fleet before."""

    client: "Client"
    fleet: Fleet
    revision: str
    earlier: Fleet | None = None

    def wait(self, timeout: float, step: Step, lab: str) -> None:
        """Wait until the nodes show what is wanted; raises `TimedOut` with what was last seen.

        What the fleet's own faults hold back is not waited for. What only the fleet before had is,
        until it is gone: the scheduler would go on giving it out.

        For the plugins first: a node goes on showing the devices of the plugin before, and where a
        fleet has as many, the numbers would not tell.
        """
        ends = time.monotonic() + timeout
        late = self._wait_for_plugins(timeout, step)
        for nodes in self.client.node_changes(max(0, ends - time.monotonic())):
            seen = [*missing(nodes, self._awaited), *late]
            if not seen:
                return
            step.update(seen[0])
        raise TimedOut(
            f"the devices did not become allocatable within {timeout:g} s",
            where=", ".join(wanted_by(self.fleet)),
            seen="\n".join((*seen, *_what_pods_say(self.client))),
            remedy="read what the plugin says; the cluster is still there",
            commands=tuple(f"gpulab {each} --name {lab}" for each in ("logs", "status", "down")),
        )

    def _wait_for_plugins(self, timeout: float, step: Step) -> list[str]:
        """Wait until the plugins are ready; return what was missing when time was up."""
        late: list[str] = []
        for pods in self.client.pod_changes(NAMESPACE, SELECTOR, timeout):
            late = self._late(pods)
            if not late:
                break
            step.update(late[0])
        return late

    def _late(self, pods: Iterable[Pod]) -> list[str]:
        current = [pod for pod in pods if pod.annotations.get(REVISION) == self.revision]
        ready = {pod.node for pod in current if pod.ready}
        # A plugin is ready when the kubelet watches all of its resources: there it never is.
        running = {pod.node for pod in current if pod.phase == "Running" and not pod.waiting}
        return [
            f"{node}: the plugin of this fleet is not ready"
            for node, devices in wanted_by(self.fleet).items()
            if node not in (ready if devices == self._due[node] else ready | running)
        ]

    @cached_property
    def _due(self) -> Wanted:
        # Every rule is looked at for every resource, and this is asked for at every change.
        return due_by(self.fleet)

    @cached_property
    def _awaited(self) -> Wanted:
        """What is due, and none of what only the earlier fleet had."""
        before = wanted_by(self.earlier) if self.earlier else {}
        wanted = wanted_by(self.fleet)
        gone = {
            node: dict.fromkeys(devices.keys() - wanted.get(node, {}).keys(), 0)
            for node, devices in before.items()
        }
        return {
            node: {**gone.get(node, {}), **self._due.get(node, {})} for node in (*self._due, *gone)
        }


def wanted_by(fleet: Fleet) -> Wanted:
    """Return what the fleet's nodes are to show as allocatable."""
    return {
        node: {name: count for each in members for name, count in each.devices.items()}
        for node, members in fleet.by_node().items()
    }


def due_by(fleet: Fleet) -> Wanted:
    """Return what is wanted, without what the fleet's own faults hold back."""
    held = {(each.node, each.resource) for each in held_back(fleet)}
    return {
        node: {name: count for name, count in devices.items() if (node, name) not in held}
        for node, devices in wanted_by(fleet).items()
    }


def missing(nodes: Iterable[Node], due: Wanted) -> list[str]:
    """Return what keeps a lab from being ready, a line each: nodes, and devices that are due."""
    shown = {node.name: node for node in nodes}
    lines = [f"{name}: the node is not Ready" for name, node in shown.items() if not node.ready]
    for name, devices in due.items():
        allocatable = shown[name].allocatable if name in shown else {}
        lines += [
            f"{name}: {resource} {allocatable.get(resource, 0)} of {count}"
            for resource, count in devices.items()
            if allocatable.get(resource, 0) != count
        ]
    return lines


def _what_pods_say(client: "Client") -> Iterator[str]:
    """Yield a line for each of the plugin's pods, and the last ones of one that is not ready."""
    pods = sorted(client.pods(NAMESPACE, SELECTOR), key=lambda pod: (pod.ready, pod.node))
    if not pods:
        yield "there is no pod of the plugin"
    for pod in pods:
        yield f"pod {pod.name} on {pod.node or 'no node'}: {pod.phase} {pod.waiting}".rstrip()
    for pod in pods[:1]:
        try:
            yield from client.logs(pod, tail=_LOG_LINES).splitlines()
        except LabError as error:
            # A container that has not started has no log; the wait's own error must not be lost.
            yield error.seen
