"""Plugins that a test brings along, beside the one that the lab has on a node.

Each is a pod of the lab's own plugin image with a fleet of its own, so it registers as a vendor's
plugin would, and its log is the pod's.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import Any, Final

from lab.harness.workloads import Manifest, pod

_REGISTRAR: Final = "registering.py"
_FOUND: Final = "discovered.py"
#: Beside the folder of sockets (Kubernetes, pkg/kubelet/config/defaults.go).
_REGISTRY: Final = "plugins_registry"
#: Its socket has to go with it: the kubelet would look for it for ever.
_FOUND_GRACE_SECONDS: Final = 5
_FLEET_FOLDER: Final = "/etc/gpu-lab"
_STATE_FOLDER: Final = "/var/lib/gpu-lab"
#: The fleet is in the pod itself: there is nothing beside it to make and to remove.
_FLEET_ANNOTATION: Final = "gpu-lab/fleet"


@dataclass(frozen=True)
class Host:
    """A node that can have guests: its kubelet's folder of sockets, and an image that it has."""

    node: str
    folder: str
    image: str

    def plugin(
        self,
        name: str,
        resource: str,
        count: int,
        *,
        mounted: bool = True,
        faults: Sequence[Mapping[str, Any]] = (),
    ) -> Manifest:
        """Return a pod that is a device plugin with so many devices.

        `mounted` says whether it has the kubelet's folder, without which it cannot register.
        `faults` are as in a fleet file.
        """
        pool = {"name": name, "nodes": 1, "nodeNames": [self.node]}
        fleet = {
            "apiVersion": "gpu-lab/v1",
            "kind": "Fleet",
            "pools": [{**pool, "resource": resource, "count": count}],
            "faults": [*faults],
        }
        args = [
            f"--fleet={_FLEET_FOLDER}/fleet.yaml",
            f"--node={self.node}",
            f"--device-plugin-dir={self.folder}",
            f"--state-dir={_STATE_FOLDER}",
        ]
        path = f"metadata.annotations['{_FLEET_ANNOTATION}']"
        item = {"path": "fleet.yaml", "fieldRef": {"fieldPath": path}}
        volumes: dict[str, Manifest] = {
            _FLEET_FOLDER: {"downwardAPI": {"items": [item]}},
            _STATE_FOLDER: {"emptyDir": {}},
            **(self._sockets if mounted else {}),
        }
        made = self._pod(name, {"args": args}, volumes)
        # JSON is YAML.
        made["metadata"]["annotations"] = {_FLEET_ANNOTATION: json.dumps(fleet)}
        return made

    def registrar(self, name: str, *resources: str) -> Manifest:
        """Return a pod that registers these names, whatever they are, and prints what comes back.

        A line each, as `gpu: the ResourceName "gpu" is invalid`. Nobody would serve them.
        """
        command = ["python3", "-c", _program(_REGISTRAR), self.folder, *resources]
        made = self._pod(name, {"command": command}, self._sockets)
        made["spec"]["restartPolicy"] = "Never"
        return made

    def found_plugin(self, name: str, resource: str, count: int) -> Manifest:
        """Return a pod that is a device plugin which never registers: the kubelet finds it."""
        registry = str(PurePosixPath(self.folder).with_name(_REGISTRY))
        command = ["python3", "-c", _program(_FOUND), registry, resource, str(count)]
        made = self._pod(name, {"command": command}, _of_the_node(registry))
        made["spec"]["terminationGracePeriodSeconds"] = _FOUND_GRACE_SECONDS
        return made

    @property
    def _sockets(self) -> dict[str, Manifest]:
        return _of_the_node(self.folder)

    def _pod(self, name: str, runs: Manifest, volumes: Mapping[str, Manifest]) -> Manifest:
        names = {path: f"volume-{number}" for number, path in enumerate(volumes)}
        plugin = {
            "name": "device-plugin",
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            # The kubelet's folder belongs to root.
            "securityContext": {"runAsUser": 0},
            "volumeMounts": [{"name": names[path], "mountPath": path} for path in volumes],
            **runs,
        }
        return pod(
            name,
            containers=[plugin],
            node=self.node,
            volumes=[{"name": names[path], **volume} for path, volume in volumes.items()],
        )


def _of_the_node(folder: str) -> dict[str, Manifest]:
    return {folder: {"hostPath": {"path": folder, "type": "Directory"}}}


def _program(file: str) -> str:
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
