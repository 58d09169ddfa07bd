"""Puts the device plugin onto the nodes of a fleet, and waits for what it brings."""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import yaml

from lab.cluster.objects import Node
from lab.core.errors import LabError, TimedOut
from lab.core.fleet import Fleet
from lab.core.progress import Step

if TYPE_CHECKING:
    from lab.cluster.client import Client

NAMESPACE: Final = "kube-system"
SELECTOR: Final = "app=fake-gpu-device-plugin"
#: Where the control API of each pod listens.
CONTROL_PORT: Final = 9441
#: Nodes with this label run the plugin.
NODE_LABEL: Final = "gpu-lab/device-plugin"
_POOL_LABEL: Final = "gpu-lab/pool"
_LOG_LINES: Final = 5

Manifest = dict[str, Any]
#: Devices by resource name by node name.
Wanted = Mapping[str, Mapping[str, int]]


def manifests(fleet: Fleet, image: str, token: str) -> tuple[Manifest, ...]:
    """Return the plugin's objects for a placed fleet: Secret, ConfigMap and DaemonSet.

    A changed fleet is a changed pod template; a changed token reaches the pods that are there.
    """
    template = resources.files("lab.install").joinpath("plugin.yaml").read_text(encoding="utf-8")
    secret, config_map, daemon_set = yaml.safe_load_all(template)
    secret["data"]["token"] = base64.b64encode(token.encode()).decode()
    text = fleet.to_yaml()
    config_map["data"]["fleet.yaml"] = text
    pod = daemon_set["spec"]["template"]
    pod["metadata"]["annotations"]["gpu-lab/fleet"] = hashlib.sha256(text.encode()).hexdigest()[:12]
    (container,) = pod["spec"]["containers"]
    container["image"] = image
    for amounts in container["resources"].values():
        amounts["memory"] = _memory(fleet)
    return secret, config_map, daemon_set


def _memory(fleet: Fleet) -> str:
    """Return what the plugin needs on its fullest node: the chapter's 50 MiB for any usual count.

    A device costs below 1 KiB: 20 000 of them were 17 MB more than 8 of them.
    """
    most = max(sum(devices.values()) for devices in wanted_by(fleet).values())
    return f"{50 + most // 1000}Mi"


def deploy(client: "Client", fleet: Fleet, image: str, token: str) -> None:
    """Label and taint the fleet's nodes, and apply the plugin's objects."""
    for node in fleet.nodes():
        name = str(node.node_name)
        client.label_node(name, {NODE_LABEL: "true", _POOL_LABEL: node.pool})
        if node.taint:
            client.taint_node(name, node.taint.key, node.taint.value, node.taint.effect)
    for manifest in manifests(fleet, image, token):
        client.apply(manifest)


def withdraw(client: "Client", earlier: Fleet, fleet: Fleet) -> None:
    """Take back what an earlier fleet put on nodes and this one does not."""
    names = {node.node_name for node in fleet.nodes()}
    taints = {(node.node_name, node.taint) for node in fleet.nodes()}
    for node in earlier.nodes():
        name = str(node.node_name)
        if node.taint and (name, node.taint) not in taints:
            client.taint_node(name, node.taint.key, None, node.taint.effect)
        if name not in names:
            client.label_node(name, {NODE_LABEL: None, _POOL_LABEL: None})


def wanted_by(fleet: Fleet) -> Wanted:
    """Return what the fleet's nodes are to show as allocatable."""
    wanted: dict[str, dict[str, int]] = {}
    for node in fleet.nodes():
        wanted.setdefault(str(node.node_name), {}).update(node.devices)
    return wanted


def wait_for_allocatable(
    client: "Client", fleet: Fleet, timeout: float, step: Step, lab: str
) -> None:
    """Wait until the nodes show what is wanted; raises `TimedOut` with what was last seen."""
    seen: list[str] = []
    for nodes in client.node_changes(timeout):
        seen = missing(nodes, fleet)
        if not seen:
            return
        step.update(seen[0])
    raise TimedOut(
        f"the devices did not become allocatable within {timeout:g} s",
        where=", ".join(wanted_by(fleet)),
        seen="\n".join((*seen, *_what_pods_say(client))),
        remedy="read what the plugin says; the cluster is still there",
        commands=tuple(f"gpulab {each} --name {lab}" for each in ("logs", "status", "down")),
    )


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


def missing(nodes: Iterable[Node], fleet: Fleet) -> list[str]:
    """Return what keeps a lab from being ready, a line each: nodes, and devices of the fleet."""
    shown = {node.name: node for node in nodes}
    lines = [f"{name}: the node is not Ready" for name, node in shown.items() if not node.ready]
    for name, devices in wanted_by(fleet).items():
        allocatable = shown[name].allocatable if name in shown else {}
        lines += [
            f"{name}: {resource} {allocatable.get(resource, 0)} of {count}"
            for resource, count in devices.items()
            if allocatable.get(resource, 0) != count
        ]
    return lines
