"""A pod that acts in a node's own namespaces, as a command on the node would.

It is privileged and sees the node's processes, so that it can enter the namespaces of the first
one (nsenter). What it prints is in its log; what its command says on stderr is the message of its
end, of which a kubelet keeps the last 4096 bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from lab.cluster.existing import keeper

NAMESPACE: Final = "kube-system"
#: The label by which one such pod is found; its value is made up for each.
ACT: Final = "gpu-lab/act"
#: The label of those that can start a kubelet.
KEEPER: Final = "gpu-lab/keeper"
#: The name of its only container.
CONTAINER: Final = "node"
_STDERR: Final = "/dev/termination-log"
#: Both util-linux, where the image has it, and Busybox take these.
_ENTER: Final = "$(command -v nsenter || echo busybox nsenter) -t 1 -m -u -i -n --"

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Image:
    """An image with a shell, nsenter and Python, and whether kubelets may pull it."""

    reference: str
    policy: str


@dataclass(frozen=True)
class Secret:
    """Where the token of the lab is in the cluster: the name of a Secret, and the key in it."""

    name: str
    key: str


def running(command: Sequence[str], node: str, image: Image, act: str) -> Manifest:
    """Return a pod that runs a command on a node to its end."""
    script = f'exec {_ENTER} "$@" 2>{_STDERR}'
    pod = _pod(("sh", "-c", script, "sh", *command), node, image, act)
    # Without a network of its own it starts sooner, and also where the node's is broken.
    pod["spec"]["hostNetwork"] = True
    return pod


def keeping(node: str, image: Image, act: str, secret: Secret) -> Manifest:
    """Return a pod that stops a node's kubelet and starts it again, as `keeper` is told."""
    source = resources.files("lab.cluster.existing").joinpath("keeper.py")
    pod = _pod(("python3", "-c", source.read_text(encoding="utf-8")), node, image, act)
    pod["metadata"]["labels"][KEEPER] = "true"
    (container,) = pod["spec"]["containers"]
    container["ports"] = [{"containerPort": keeper.PORT}]
    reference = {"name": secret.name, "key": secret.key}
    container["env"] = [{"name": keeper.VARIABLE, "valueFrom": {"secretKeyRef": reference}}]
    container["readinessProbe"] = {"tcpSocket": {"port": keeper.PORT}, "periodSeconds": 1}
    return pod


def _pod(command: Sequence[str], node: str, image: Image, act: str) -> Manifest:
    container = {
        "name": CONTAINER,
        "image": image.reference,
        "imagePullPolicy": image.policy,
        "command": list(command),
        "securityContext": {"privileged": True, "runAsUser": 0},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"gpu-lab-node-{act}",
            "namespace": NAMESPACE,
            "labels": {"app.kubernetes.io/part-of": "gpu-lab", ACT: act},
        },
        "spec": {
            # Given to its node, it needs no scheduler, and no place beside what is there.
            "nodeName": node,
            "hostPID": True,
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        },
    }
