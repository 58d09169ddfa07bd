"""A plugin on trial in a cluster: its pod on one node, and pods that ask for its devices."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from lab.cluster.objects import Node, Pod
from lab.conformance.check import Failed
from lab.conformance.in_cluster.manifests import (
    NAME,
    NAMESPACE,
    PLUGIN_SELECTOR,
    USERS_NAMESPACE,
    USERS_SELECTOR,
    daemon_set,
    user,
)
from lab.core.errors import LabError, UsageError
from lab.install.backend import Image

_LOOK_SECONDS: Final = 0.2
_LOG_LINES: Final = 5
_END_SECONDS: Final = 60.0


class Cluster(Protocol):
    """What is asked of the API server: see `lab.cluster.client.Client`."""

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""
        ...

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return the pods of a namespace that have a label."""
        ...

    def apply(self, manifest: Mapping[str, Any]) -> object:
        """Apply an object."""
        ...

    def create(self, manifest: Mapping[str, Any]) -> object:
        """Create an object."""
        ...

    def delete(self, manifest: Mapping[str, Any]) -> None:
        """Delete an object."""
        ...

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return what the pod has printed."""
        ...


class ClusterTrial:
    """One plugin on one node, from its image; `resource` is "" until it is known.

    `seconds` is how long the plugin may take for anything. To be closed in the end.
    """

    def __init__(  # noqa: PLR0913 - what is tried, where, and how
        self,
        cluster: Cluster,
        node: str,
        image: Image,
        command: Sequence[str],
        *,
        restart_kubelet: Callable[[], None],
        resource: str,
        seconds: float,
    ) -> None:
        """Look at the node; raise `UsageError` where it has such devices already."""
        self.resource = resource
        self.seconds = seconds
        #: How many devices there were at first.
        self.count = 0
        self.restart_kubelet = restart_kubelet
        self._node = node
        self._cluster = cluster
        self._daemon_set = daemon_set(image, command, node)
        self._users = 0
        self._before = dict(self.shown().allocatable)
        if self._before.get(resource):
            raise UsageError(
                f"another plugin gives out {resource} on the node",
                where=node,
                seen=f"{self._before[resource]} are allocatable",
                remedy="try the plugin on a lab whose fleet does not have that resource",
            )

    def close(self) -> None:
        """Remove the plugin and all pods; wait until they are gone, and the node's devices too."""
        self.remove_users()
        self._cluster.delete(self._daemon_set)
        self.wait(lambda: not self.plugins(terminating=True), _END_SECONDS)
        self.wait(lambda: not self.allocatable(), _END_SECONDS)

    def renew(self) -> None:
        """Take the devices back; the plugin stays, as a DaemonSet's pod does."""
        self.remove_users()

    def end_of_plugin(self) -> str:
        """Return "": whoever runs in a pod is started again."""
        return ""

    def deploy(self) -> None:
        """Put the plugin onto the node."""
        self._cluster.apply(self._daemon_set)

    def shown(self) -> Node:
        """Return the node as it shows itself."""
        return next(each for each in self._cluster.nodes() if each.name == self._node)

    def allocatable(self) -> int:
        """Return how many devices the node has to give."""
        return self.shown().allocatable.get(self.resource, 0)

    def new_resource(self) -> str:
        """Return the resource that the node has since the plugin came, "" as long as none is."""
        now = self.shown().allocatable
        new = [each for each in sorted(now) if now[each] and not self._before.get(each)]
        return next((each for each in new if self.resource in ("", each)), "")

    def wait(self, holds: Callable[[], object], seconds: float | None = None) -> bool:
        """Wait until it holds, or time is up; tell which."""
        ends = time.monotonic() + (self.seconds if seconds is None else seconds)
        while not holds():
            if time.monotonic() > ends:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def plugins(self, *, terminating: bool = False) -> list[Pod]:
        """Return the plugin's pods, those that end as well where that is asked for."""
        pods = self._cluster.pods(NAMESPACE, PLUGIN_SELECTOR)
        return [each for each in pods if terminating or not each.terminating]

    def runs(self, pod: Pod) -> bool:
        """Tell whether a container of the pod runs now."""
        return pod.phase == "Running" and all(each.state == "running" for each in pod.containers)

    def delete_plugin(self) -> Pod:
        """Delete the plugin's pod, and return it as it was."""
        (pod,) = self.plugins()
        self._cluster.delete(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": pod.name, "namespace": pod.namespace},
            }
        )
        return pod

    def words_of_plugin(self) -> str:
        """Return what keeps the plugin from running, and what it said last."""
        pods = self.plugins()
        if not pods:
            return f"there is no pod of the DaemonSet {NAME}"
        pod = pods[0]
        state = f"pod {pod.name}: {pod.phase} {pod.waiting}".rstrip()
        try:
            return f"{state}\n{self._cluster.logs(pod, tail=_LOG_LINES)}".rstrip()
        except LabError:
            # A container that has not started has no log.
            return state

    def add_user(self) -> Pod:
        """Make a pod that gets a device, and return it; raise `Failed` where it does not run."""
        self._users += 1
        manifest = user(self._users, self._node, self.resource)
        name = manifest["metadata"]["name"]
        self._cluster.create(manifest)

        def found() -> Pod | None:
            return next((each for each in self.users() if each.name == name), None)

        def is_decided() -> bool:
            pod = found()
            return bool(pod and (self.runs(pod) or pod.phase == "Failed"))

        self.wait(is_decided)
        pod = found()
        if pod is None or not self.runs(pod):
            raise Failed(_why(pod) if pod else f"the pod {name} is gone")
        return pod

    def users(self) -> list[Pod]:
        """Return the pods that have, or want, a device."""
        return list(self._cluster.pods(USERS_NAMESPACE, USERS_SELECTOR))

    def remove_users(self) -> None:
        """Delete these pods, and wait until they are gone."""
        for pod in self.users():
            self._cluster.delete(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": pod.name, "namespace": pod.namespace},
                }
            )
        self.wait(lambda: not self.users(), _END_SECONDS)


def _why(pod: Pod) -> str:
    reasons = (pod.unscheduled, f"{pod.reason}: {pod.message}".strip(": "), pod.waiting)
    words = "; ".join(filter(None, reasons))
    return f"pod {pod.name} is {pod.phase}: {words or 'nothing is said'}"
