"""A cluster of one node, in which a plugin behaves as a test says.

It is as late as a real one: what is asked for is seen to happen at a later look, and the node shows
the devices that its kubelet knew of before, until that reports. Whether a pod is admitted, the
kubelet decides by what it knows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Container, Node, Pod

NODE: Final = "node-1"
RESOURCE: Final = "example.com/gpu"
Manifest = Mapping[str, Any]


class FakeTime:
    """Stands in for the module `time`: it passes when somebody sleeps."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        """Return the seconds that were slept."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let them pass."""
        self._now += seconds


@dataclass
class FakeCluster:
    """What the API server has; `fault` is what goes wrong with the plugin, "" for nothing.

    The node reports `lag` looks after its kubelet has learned something. `refuses` is what the
    server refuses to do, and `refusals` how often.
    """

    fault: str = ""
    devices: int = 2
    lag: int = 1
    allocatable: dict[str, int] = field(default_factory=dict)
    found: list[Pod] = field(default_factory=list)
    applied: list[Manifest] = field(default_factory=list)
    refuses: str = ""
    refusals: int = 1_000_000
    #: The plugin's pod that the kubelet is connected with.
    connected: str = ""
    #: Whether the next pod that is admitted ends the others.
    ends_pods_later: bool = False
    hangs: bool = False
    #: Whether the kubelet tells of the containers of pods that it does not admit.
    rejected_have_containers: bool = False
    #: Whether there is a DaemonSet.
    is_wanted: bool = False
    _later: list[list[Callable[[], None]]] = field(default_factory=list)

    def nodes(self) -> tuple[Node, ...]:
        """Return the node, and another one."""
        self._look("get")
        amounts = dict(self.allocatable)
        one = Node(
            name=NODE,
            ready=True,
            version="v1",
            labels={},
            taints=frozenset(),
            capacity=amounts,
            allocatable=amounts,
            heard=None,
        )
        return replace(one, name="node-0", allocatable={RESOURCE: 99}), one

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return those with the label."""
        self._look("get")
        key, _, value = selector.partition("=")
        return tuple(
            each
            for each in self.found
            if each.namespace == namespace and each.labels.get(key) == value
        )

    def apply(self, manifest: Manifest) -> None:
        """Let a DaemonSet have its pod."""
        self._look("apply")
        self.applied.append(manifest)
        self.is_wanted = True
        self._soon(self._run_plugin)

    def create(self, manifest: Manifest) -> None:
        """Let a pod wait until it is scheduled and admitted."""
        self._look("create")
        name = manifest["metadata"]["name"]
        if name in {each.name for each in self.found}:
            raise ApiFailed("refused (409 Conflict)", seen=f'pods "{name}" already exists')
        self.applied.append(manifest)
        pod = replace(self._pod(manifest, "Pending"), containers=())
        self.found.append(pod)
        self._soon(lambda: self._schedule(pod))

    def delete(self, manifest: Manifest) -> None:
        """Let a pod end, or a DaemonSet with its pod; another pod of that comes afterwards."""
        meta = manifest["metadata"]
        is_set = manifest["kind"] == "DaemonSet"
        self._look(f"delete {'plugin' if is_set else meta['namespace']}")
        if is_set:
            self.is_wanted = False
        for pod in self._plugins() if is_set else list(self.found):
            if is_set or pod.name == meta["name"]:
                self._change(pod, terminating=True)
                self._soon(lambda pod=pod: self._end(pod))  # type: ignore[misc]

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return a line; a container that has not started has none."""
        if pod.phase != "Running":
            raise ApiFailed("it is waiting to start")
        return f"the last of {tail} lines"

    def restart_kubelet(self) -> None:
        """Restart the kubelet: it knows no plugin, and a deaf one does not come back."""
        plugin, self.connected = self.connected, ""
        self._report(0)
        if self.fault != "deaf":
            self._soon(lambda: self._register(plugin))
        if self.fault == "ends-pods":
            self._end_users()
        self.hangs = self.fault == "hangs"
        self.ends_pods_later = self.fault == "ends-pods-later"

    def users(self) -> list[Pod]:
        """Return the pods that have, or want, a device."""
        return [each for each in self.found if each.namespace == "default"]

    def _end_users(self, but: str = "") -> None:
        for pod in self.users():
            if pod.uid != but:
                self._change(pod, phase="Failed")

    def _look(self, does: str) -> None:
        """Let what is due happen."""
        if self.refuses and does.startswith(self.refuses) and self.refusals:
            self.refusals -= 1
            raise ApiFailed("the API server refused", seen=does)
        for act in self._later.pop(0) if self._later else ():
            act()

    def _soon(self, act: Callable[[], None], looks: int = 1) -> None:
        while len(self._later) <= looks:
            self._later.append([])
        self._later[looks].append(act)

    def _report(self, number: int) -> None:
        """Let the node show that many devices when its kubelet reports next."""
        self._soon(lambda: self.allocatable.update({RESOURCE: number}), self.lag)

    def _plugins(self) -> list[Pod]:
        return [each for each in self.found if each.namespace == "kube-system"]

    def _change(self, pod: Pod, **fields: object) -> None:
        self.found = [
            replace(each, **fields) if each.uid == pod.uid else each  # type: ignore[arg-type]
            for each in self.found
        ]

    def _end(self, pod: Pod) -> None:
        if self.fault == "does-not-end" and self.is_wanted is False:
            return
        self.found = [each for each in self.found if each.uid != pod.uid]
        if pod.namespace != "kube-system":
            return
        if self.connected == pod.uid:
            self.connected = ""
            # A kubelet that has mixed up two plugins does not notice the end of one.
            if self.fault != "unnoticed":
                self._report(0)
        if self.is_wanted and self.fault != "does-not-come-back":
            self._soon(self._run_plugin)

    def _run_plugin(self) -> None:
        waits = Container("plugin", "waiting", reason="ErrImagePull", message="not found")
        again = Container("plugin", "waiting", reason="CrashLoopBackOff", message="back-off 10s")
        is_first = not any(each.get("plugin") for each in self.applied)
        manifest = {
            "plugin": True,
            "metadata": {
                "name": f"plugin-{len(self.applied)}",
                "namespace": "kube-system",
                "labels": {"app": "gpulab-conform"},
            },
        }
        self.applied.append(manifest)
        pod = self._pod(manifest, "Running")
        if self.fault == "no-image":
            pod = replace(pod, phase="Pending", containers=(waits,))
        elif self.fault == "ends-again":
            pod = replace(pod, containers=(again,))
        elif is_first or self.fault not in {"registers-once", "unnoticed"}:
            self._soon(lambda: self._register(pod.uid))
        self.found.append(pod)

    def _register(self, plugin: str) -> None:
        alive = {each.uid for each in self._plugins() if not each.terminating}
        if plugin in alive and self.fault != "registers-nothing":
            self.connected = plugin
            lives = sum(1 for each in self.applied if each.get("plugin"))
            is_less = self.fault == "fewer-again" and lives > 1
            self._report(self.devices - is_less)

    def _schedule(self, pod: Pod) -> None:
        """Bind the pod where the node shows a device that nobody has; else try again."""
        if pod.uid not in {each.uid for each in self.found}:
            return
        if len(self._held()) >= self.allocatable.get(RESOURCE, 0):
            self._change(pod, unscheduled=f"1 Insufficient {RESOURCE}")
            self._soon(lambda: self._schedule(pod))
            return
        self._soon(lambda: self._admit(pod))

    def _held(self) -> list[str]:
        """Return the devices of pods that have not failed."""
        return [
            device
            for pod in self.found
            if pod.phase != "Failed"
            for one in pod.containers
            for device in one.devices.get(RESOURCE, ("a device of which nobody tells",))
            if pod.namespace == "default"
        ]

    def _admit(self, pod: Pod) -> None:
        """Decide as a kubelet does; one that was restarted may hang."""
        if self.hangs:
            self._change(pod, unscheduled="")
            return
        refusal = "" if self.connected else "no healthy devices present"
        given = [each for each in self.applied if each["metadata"]["name"].startswith("gpulab")]
        if self.fault == "keeps-accounts" and len(given) > 2:
            refusal = "that one is taken"
        if refusal:
            reason = "UnexpectedAdmissionError"
            left = (Container("c", "waiting"),) if self.rejected_have_containers else ()
            self._change(
                pod,
                phase="Failed",
                reason=reason,
                message=refusal,
                unscheduled="",
                containers=left,
            )
            return
        free = [f"gpu-{each}" for each in range(self.devices) if f"gpu-{each}" not in self._held()]
        devices = {RESOURCE: ("gpu-0" if self.fault == "same-device" else free[0],)}
        if self.fault == "tells-no-devices":
            devices = {}
        container = Container("c", "running", devices=devices)
        if self.fault == "no-device-file":
            container = replace(
                container, state="waiting", reason="CreateContainerError", message="no /dev/gpu"
            )
        if self.fault == "ends-others" or self.ends_pods_later:
            self._end_users(but=pod.uid)
        phase = "Running" if container.state == "running" else "Pending"
        self._change(pod, phase=phase, containers=(container,), unscheduled="")

    def _pod(self, manifest: Manifest, phase: str) -> Pod:
        meta = manifest["metadata"]
        return Pod(
            namespace=meta["namespace"],
            name=meta["name"],
            uid=f"uid-{len(self.applied)}",
            labels=meta["labels"],
            annotations={},
            node=NODE,
            phase=phase,
            reason="",
            message="",
            unscheduled="",
            terminating=False,
            created=None,
            images=(),
            requests={},
            limits={},
            conditions={},
            containers=(Container("c", "running"),),
            init_containers=(),
        )
