"""A plugin on trial in a cluster: its pod on one node, and pods that ask for its devices."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from lab.cluster.objects import Node, Pod
from lab.conformance.check import Failed
from lab.conformance.in_cluster.clearing import Clearing
from lab.conformance.in_cluster.cluster import Cluster, wait_until
from lab.conformance.in_cluster.manifests import NAME, daemon_set, user
from lab.core.errors import CheckFailed, CleanUpFailed, LabError, UsageError
from lab.install.backend import Image

_LOG_LINES: Final = 5
#: How long a kubelet may take to say that devices have come or gone: it does every ten seconds.
_REPORT_SECONDS: Final = 15.0


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
        clearing: Clearing,
        restart_kubelet: Callable[[], None],
        resource: str,
        seconds: float,
    ) -> None:
        """Remove what an earlier trial has left, and look at the node.

        Raises `UsageError` where it has such devices already, `CleanUpFailed` where something of
        an earlier trial stays.
        """
        self.resource = resource
        self.seconds = seconds
        #: How many devices there were at first.
        self.count = 0
        self.restart_kubelet = restart_kubelet
        self._node = node
        self._cluster = cluster
        self._clearing = clearing
        self._daemon_set = daemon_set(image, command, node)
        self._users = 0
        #: Those that have run with a device and were not removed, by UID.
        self._running: dict[str, Pod] = {}
        self._remove_leftovers()
        self._before = dict(self.shown().allocatable)
        if self._before.get(resource):
            raise UsageError(
                f"another plugin gives out {resource} on the node",
                where=node,
                seen=f"{self._before[resource]} are allocatable",
                remedy="try the plugin on a lab whose fleet does not have that resource",
            )

    def close(self) -> None:
        """Remove the plugin and all pods; wait until they are gone, and the node's devices too.

        Raises `CleanUpFailed` with all that stays.
        """
        self._clearing.remove_all(self._see_devices_go)

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
        """Return the node as it shows itself; raise `CheckFailed` where it is gone."""
        for each in self._cluster.nodes():
            if each.name == self._node:
                return each
        raise CheckFailed("the node of the trial is gone", where=self._node)

    def allocatable(self) -> int:
        """Return how many devices the node has to give."""
        return self.shown().allocatable.get(self.resource, 0)

    def new_resource(self) -> str:
        """Return the resource that the node has since the plugin came, "" as long as none is."""
        return next((each for each in self._new() if self.resource in {"", each}), "")

    def _new(self) -> dict[str, int]:
        """Return what the node has to give, and had not before the trial, by resource."""
        now = self.shown().allocatable
        return {each: now[each] for each in sorted(now) if now[each] and not self._before.get(each)}

    def wait(self, holds: Callable[[], object]) -> bool:
        """Wait until it holds, or the plugin's time is up; tell which."""
        return wait_until(holds, self.seconds)

    def see_report(self) -> None:
        """Wait until the node shows another number of devices, or its kubelet has none to tell."""
        wait_until(lambda: self.allocatable() != self.count, _REPORT_SECONDS)

    def plugins(self, *, terminating: bool = False) -> list[Pod]:
        """Return the plugin's pods, those that end as well where that is asked for."""
        return [each for each in self._clearing.plugins() if terminating or not each.terminating]

    def runs(self, pod: Pod) -> bool:
        """Tell whether all containers of the pod run now."""
        return pod.phase == "Running" and all(each.state == "running" for each in pod.containers)

    def delete_plugin(self) -> Pod:
        """Delete the plugin's pod, and return it as it was; raise `Failed` where there is none."""
        pods = self.plugins()
        if not pods:
            raise Failed(self.words_of_plugin())
        self._cluster.delete(pods[0].naming)
        return pods[0]

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
        pod = self._new_user(self.runs)
        if not self.runs(pod):
            raise Failed(_why(pod))
        self._running[pod.uid] = pod
        return pod

    def why_none_is_given(self) -> str:
        """Let a new pod have a device now; return why none had one in time, "" where one had.

        What the node shows may be what it was told before. Who is admitted was given a device by
        a plugin that is there, whatever the runtime makes of that; such a pod does not stay.
        """
        if len(self.users()) >= self.count:
            self._remove(self.users()[-1:])
        refused = ""

        def is_given() -> bool:
            nonlocal refused
            pod = self._new_user(lambda pod: bool(pod.containers))
            refused = "" if pod.containers and pod.phase != "Failed" else _why(pod)
            self._remove([pod])
            return not refused

        self.wait(is_given)
        return refused

    def users(self) -> list[Pod]:
        """Return the pods that have, or want, a device."""
        return self._clearing.users()

    def interrupted(self) -> list[str]:
        """Return the names of the pods that ran with a device, and do not run any more."""
        now = {each.uid for each in self.users() if self.runs(each)}
        return [pod.name for uid, pod in self._running.items() if uid not in now]

    def remove_users(self) -> None:
        """Delete all pods with devices, and wait until they are gone."""
        self._remove(self.users())

    def _remove(self, pods: Iterable[Pod]) -> None:
        pods = list(pods)
        for each in pods:
            self._running.pop(each.uid, None)
        self._clearing.remove_users(pods)

    def _new_user(self, is_well: Callable[[Pod], bool]) -> Pod:
        """Make a pod that asks for a device; return it when it is well or fails, or time is up."""
        self._users += 1
        manifest = user(self._users, self._node, self.resource)
        name = manifest["metadata"]["name"]
        self._cluster.create(manifest)

        def found() -> Pod | None:
            return next((each for each in self.users() if each.name == name), None)

        def is_decided() -> bool:
            pod = found()
            return bool(pod and (is_well(pod) or pod.phase == "Failed"))

        self.wait(is_decided)
        pod = found()
        if pod is None:
            raise Failed(f"the pod {name} is gone")
        return pod

    def _remove_leftovers(self) -> None:
        """Remove what a trial that was killed has left, and wait for the node to show that."""
        had_plugin = bool(self.plugins(terminating=True))
        before = self.shown().allocatable
        self._clearing.remove_all()

        def is_shown() -> bool:
            now = self.shown().allocatable
            return any(now.get(each, 0) < number for each, number in before.items())

        if had_plugin:
            # Where that one never had devices, none go.
            wait_until(is_shown, _REPORT_SECONDS)

    def _see_devices_go(self) -> None:
        if not self._clearing.wait(lambda: not self._new()):
            kept = ", ".join(f"{number} of {each}" for each, number in self._new().items())
            raise CleanUpFailed(
                f"the node still shows {kept}",
                remedy="restart its kubelet",
                commands=(f"gpulab node restart-kubelet {self._node} --name {self._clearing.lab}",),
            )


def _why(pod: Pod) -> str:
    reasons = (pod.unscheduled, f"{pod.reason}: {pod.message}".strip(": "), pod.waiting)
    words = "; ".join(filter(None, reasons))
    return f"pod {pod.name} is {pod.phase}: {words or 'nothing is said'}"
