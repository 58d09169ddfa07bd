"""Gathers what there is to be known of a pod; what cannot be had is noted, with the reason."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeVar

from lab.cluster import reading
from lab.cluster.objects import Event, Node, Pod
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.core.clock import Clock
from lab.core.errors import CheckFailed, LabError, UsageError
from lab.harness.timeline.observation import LogLine, Observation, Part
from lab.install.seats import node_plugin, seats
from lab.install.status import RunningLab

#: What a container says of its devices is looked for in so many lines.
_LAST_LINES: Final = 200
_SHOWN_PODS: Final = 12

Found = TypeVar("Found")


def observe(lab: RunningLab, namespace: str, name: str, clock: Clock) -> Observation:
    """Ask the cluster and the plugin about a pod; never raises for what cannot be had."""
    return _Asking(lab, namespace, name, clock).observation()


def require_pod(lab: RunningLab, namespace: str, name: str) -> None:
    """Raise `UsageError` where there is no such pod, or it asks for no device of the lab.

    Raises `ApiFailed` where the cluster cannot be asked.
    """
    resources = set(_homes(lab))
    pods = lab.client.pods()
    holding = [each for each in pods if resources & each.requests.keys()]
    found = [each for each in pods if (each.namespace, each.name) == (namespace, name)]
    if found and found[0] in holding:
        return
    named = [f"{each.namespace}/{each.name}" for each in holding]
    more = len(named) - _SHOWN_PODS
    listed = ", ".join([*named[:_SHOWN_PODS], *([f"and {more} more"] if more > 0 else [])])
    raise UsageError(
        f"the pod {namespace}/{name} asks for no device of the lab"
        if found
        else f"there is no pod {namespace}/{name}",
        seen=f"pods that ask for devices: {listed or 'none'}",
        remedy="name one of these, with its namespace"
        if named
        else "create one that asks for devices",
    )


def _homes(lab: RunningLab) -> dict[str, list[str]]:
    """Return the nodes of each of the fleet's resources, by the lab's own file."""
    fleet = lab.folder.placed_fleet()
    homes: dict[str, list[str]] = {}
    for each in fleet.nodes() if fleet else ():
        for resource in each.devices:
            homes.setdefault(resource, []).append(str(each.node_name))
    return homes


@dataclass
class _Asking:
    lab: RunningLab
    namespace: str
    name: str
    clock: Clock
    missing: dict[Part, str] = field(default_factory=dict)

    def observation(self) -> Observation:
        pod = self._asked("pod", self._pod, None)
        homes: dict[str, list[str]] = self._asked("fleet", lambda: _homes(self.lab), {})
        resources = tuple(each for each in (pod.requests if pod else ()) if each in homes)
        possible = list(dict.fromkeys(node for each in resources for node in homes[each]))
        node = pod.node if pod and pod.node else next(iter(possible), "")
        return Observation(
            namespace=self.namespace,
            name=self.name,
            at=self.clock.moment(),
            pod=pod,
            resources=resources,
            node=node,
            peers=len(possible),
            node_status=self._asked("node", lambda: self._node(node), None),
            others=self._asked("others", lambda: self._others(node, resources), ()),
            events=self._asked("events", lambda: self._events(pod), ()),
            journal=self._asked("journal", lambda: self._plugin(node).journal(), None),
            plugin_log=self._asked("plugin log", lambda: self._plugin_log(node), ()),
            pod_logs=dict(self._pod_logs(pod)) if pod else {},
            missing=self.missing,
        )

    def _asked(self, part: Part, ask: Callable[[], Found], otherwise: Found) -> Found:
        try:
            return ask()
        except LabError as error:
            self.missing[part] = error.brief
            return otherwise

    def _pod(self) -> Pod:
        path = f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"
        return reading.pod(self.lab.client.connection.get(path))

    def _node(self, name: str) -> Node:
        return reading.node(self.lab.client.connection.get(f"/api/v1/nodes/{_known(name)}"))

    def _others(self, node: str, resources: tuple[str, ...]) -> tuple[Pod, ...]:
        """Return the other pods of the node with the same resources."""
        if not node:
            return ()
        query = (("fieldSelector", f"spec.nodeName={node}"),)
        found = map(reading.pod, self.lab.client.connection.get("/api/v1/pods", query)["items"])
        own = (self.namespace, self.name)
        return tuple(
            pod
            for pod in found
            if pod.requests.keys() & set(resources) and (pod.namespace, pod.name) != own
        )

    def _events(self, pod: Pod | None) -> tuple[Event, ...]:
        """Return the events of this very pod: another one may have had its name before."""
        path = f"/api/v1/namespaces/{self.namespace}/events"
        query = (("fieldSelector", f"involvedObject.name={self.name}"),)
        found = map(reading.event, self.lab.client.connection.get(path, query)["items"])
        own = [each for each in found if pod is None or each.uid == pod.uid]
        return tuple(sorted(own, key=lambda each: (each.first is not None, each.first)))

    def _plugin_log(self, node: str) -> tuple[LogLine, ...]:
        return tuple(_lines(self.lab.client.logs(self._plugin(node).api.find_pod())))

    def _plugin(self, node: str) -> NodePlugin:
        (seat,) = seats(self.lab, [_known(node)])
        return node_plugin(self.lab, seat)

    def _pod_logs(self, pod: Pod) -> Iterator[tuple[str, str]]:
        for each in (*pod.init_containers, *pod.containers):
            if each.started:
                try:
                    said = self.lab.client.logs(pod, tail=_LAST_LINES, container=each.name)
                except LabError:
                    # It only adds to what is known without it.
                    continue
                yield each.name, said


def _known(node: str) -> str:
    """Return the name of a node; raises `CheckFailed` where there is none."""
    if not node:
        raise CheckFailed("no node is known that has what the pod asks for")
    return node


def _lines(log: str) -> Iterator[LogLine]:
    """Yield what the plugin has logged, of whatever else may be in between nothing."""
    for line in log.splitlines():
        try:
            facts = json.loads(line)
            yield LogLine(datetime.fromisoformat(facts["time"]), facts["event"], facts)
        except (ValueError, KeyError, TypeError):
            continue
