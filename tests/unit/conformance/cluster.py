"""A cluster of one node, in which a plugin behaves as a test says."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Container, Node, Pod

NODE: Final = "node-1"
RESOURCE: Final = "example.com/gpu"
Manifest = Mapping[str, Any]


@dataclass
class FakeCluster:
    """What the API server has; `fault` is what goes wrong with the plugin, "" for nothing."""

    fault: str = ""
    devices: int = 2
    allocatable: dict[str, int] = field(default_factory=dict)
    found: list[Pod] = field(default_factory=list)
    applied: list[Manifest] = field(default_factory=list)

    def nodes(self) -> tuple[Node, ...]:
        """Return the node, and another one."""
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
        key, _, value = selector.partition("=")
        return tuple(
            each
            for each in self.found
            if each.namespace == namespace and each.labels.get(key) == value
        )

    def apply(self, manifest: Manifest) -> None:
        """Let a DaemonSet have its pod."""
        self.applied.append(manifest)
        self._run_plugin()

    def create(self, manifest: Manifest) -> None:
        """Let a pod run, where there are devices for it."""
        number = sum(each.name.startswith("gpulab-conform-") for each in self.found)
        pod = self._pod(manifest, "Running", devices={RESOURCE: (f"gpu-{number}",)})
        if self.fault == "no-device-file":
            waits = Container("c", "waiting", reason="CreateContainerError", message="no /dev/gpu")
            pod = replace(pod, phase="Pending", containers=(waits,))
        if self.fault == "keeps-accounts" and len(self.applied) > self.devices:
            pod = replace(
                pod,
                phase="Failed",
                containers=(),
                reason="UnexpectedAdmissionError",
                message="that one is taken",
            )
        self.applied.append(manifest)
        self.found.append(pod)

    def delete(self, manifest: Manifest) -> None:
        """Take a pod away, or a DaemonSet with its pod; another pod of that comes at once."""
        plugins = [each for each in self.found if each.namespace == "kube-system"]
        if manifest["kind"] == "DaemonSet":
            self.found = [each for each in self.found if each not in plugins]
            self.allocatable[RESOURCE] = 0
            return
        name = manifest["metadata"]["name"]
        self.found = [each for each in self.found if each.name != name]
        if name in {each.name for each in plugins} and self.fault != "does-not-come-back":
            self._run_plugin()

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return a line; a container that has not started has none."""
        if pod.phase != "Running":
            raise ApiFailed("it is waiting to start")
        return f"the last of {tail} lines"

    def restart_kubelet(self) -> None:
        """Restart the kubelet: a plugin that is deaf has lost its devices."""
        if self.fault == "deaf":
            self.allocatable[RESOURCE] = 0
        if self.fault == "ends-pods":
            self.found = [
                replace(each, phase="Failed") if each.namespace == "default" else each
                for each in self.found
            ]

    def _run_plugin(self) -> None:
        waits = Container("plugin", "waiting", reason="ErrImagePull", message="not found")
        manifest = {
            "metadata": {
                "name": f"plugin-{len(self.applied)}",
                "namespace": "kube-system",
                "labels": {"app": "gpulab-conform"},
            }
        }
        self.applied.append(manifest)
        pod = self._pod(manifest, "Running")
        if self.fault == "no-image":
            pod = replace(pod, phase="Pending", containers=(waits,))
        elif self.fault != "registers-nothing":
            self.allocatable[RESOURCE] = self.devices
        self.found.append(pod)

    def _pod(
        self, manifest: Manifest, phase: str, devices: Mapping[str, tuple[str, ...]] | None = None
    ) -> Pod:
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
            containers=(Container("c", "running", devices=devices or {}),),
            init_containers=(),
        )
