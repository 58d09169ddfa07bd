"""What is put into the cluster: the plugin on one node, and pods that ask for its devices."""

from collections.abc import Sequence
from typing import Any, Final

from lab.cluster.access import DEVICE_PLUGIN_DIR, KUBELET_DIR
from lab.images.node.versions import BUSYBOX_TAG
from lab.install.backend import Image

NAMESPACE: Final = "kube-system"
NAME: Final = "gpulab-conform"
PLUGIN_SELECTOR: Final = f"app={NAME}"
USERS_NAMESPACE: Final = "default"
USERS_SELECTOR: Final = f"app={NAME}-user"
#: Has a shell, and is in the lab's node image.
_USERS_IMAGE: Final = f"busybox:{BUSYBOX_TAG}"
#: Where plugins are, and where those of Kubernetes' own library have to be.
_FOLDERS: Final = {
    "device-plugins": DEVICE_PLUGIN_DIR,
    "plugins-registry": f"{KUBELET_DIR}/plugins_registry",
}

Manifest = dict[str, Any]


def daemon_set(image: Image, command: Sequence[str], node: str) -> Manifest:
    """Return a DaemonSet that runs the plugin on one node, as privileged as plugins are.

    `command` is what the container runs, where it is not to be the image's own.
    """
    container: Manifest = {
        "name": "plugin",
        "image": image.reference,
        "imagePullPolicy": "IfNotPresent" if image.pulled else "Never",
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in _FOLDERS.items()],
    }
    if command:
        container["command"] = [*command]
    labels = dict([PLUGIN_SELECTOR.split("=")])
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": node},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [{"name": name, "hostPath": {"path": path}} for name, path in _FOLDERS.items()],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def user(number: int, node: str, resource: str) -> Manifest:
    """Return a pod that asks for one device of the node, and stays; deleted, it goes at once."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{NAME}-{number}",
            "namespace": USERS_NAMESPACE,
            "labels": dict([USERS_SELECTOR.split("=")]),
        },
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [{"operator": "Exists"}],
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "main",
                    "image": _USERS_IMAGE,
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sleep", "86400"],
                    "resources": {"limits": {resource: "1"}},
                }
            ],
        },
    }


def daemon_set_named() -> Manifest:
    """Return what names the DaemonSet of the plugin."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": NAME, "namespace": NAMESPACE},
    }
