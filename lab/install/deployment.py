"""Puts the device plugin onto the nodes of a fleet."""

import base64
import hashlib
import json
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

import yaml

from lab.core.fleet import Fleet, dump_fleet
from lab.install.backend import Image
from lab.install.rollout import NAMESPACE, REVISION, Rollout, wanted_by

if TYPE_CHECKING:
    from lab.cluster.client import Client

#: Where the control API of each pod listens.
CONTROL_PORT: Final = 9441
#: Nodes with this label run the plugin.
NODE_LABEL: Final = "gpu-lab/device-plugin"
_POOL_LABEL: Final = "gpu-lab/pool"
#: What takes both away again.
NO_LABELS: Final = {NODE_LABEL: None, _POOL_LABEL: None}
#: Where the token of the control API is in the cluster.
CONTROL_SECRET: Final = "gpu-lab-control"  # noqa: S105 - a name
TOKEN_KEY: Final = "token"  # noqa: S105 - a key
DAEMON_SET_PATH: Final = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/fake-gpu-device-plugin"

Manifest = dict[str, Any]


def manifests(fleet: Fleet, image: Image, token: str) -> tuple[Manifest, ...]:
    """Return the plugin's objects for a placed fleet: Secret, ConfigMap and DaemonSet.

    Whatever changes but the token changes the pods' revision; a token reaches those that are there.
    """
    secret, config_map, daemon_set = _templates()
    secret["data"][TOKEN_KEY] = base64.b64encode(token.encode()).decode()
    text = dump_fleet(fleet)
    config_map["data"]["fleet.yaml"] = text
    pod = daemon_set["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    container["image"] = image.reference
    # An image that was put into the nodes is in no registry.
    container["imagePullPolicy"] = "IfNotPresent" if image.pulled else "Never"
    for amounts in container["resources"].values():
        amounts["memory"] = _memory(fleet)
    pod["metadata"]["annotations"] = {REVISION: _revision(pod, text)}
    return secret, config_map, daemon_set


def _templates() -> Iterator[Manifest]:
    file = resources.files("lab.install").joinpath("plugin.yaml")
    yield from yaml.safe_load_all(file.read_text(encoding="utf-8"))


def _revision(pod: Manifest, fleet: str) -> str:
    whole = json.dumps([pod, fleet], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:12]


def _memory(fleet: Fleet) -> str:
    """Return what the plugin needs on its fullest node: the chapter's 50 MiB for any usual count.

    A device costs below 1 KiB: 20 000 of them were 17 MB more than 8 of them.
    """
    most = max(sum(devices.values()) for devices in wanted_by(fleet).values())
    return f"{50 + most // 1000}Mi"


def deploy(
    client: "Client", fleet: Fleet, image: Image, token: str, earlier: Fleet | None = None
) -> Rollout:
    """Label and taint the nodes, apply the plugin's objects, and return what to wait for.

    That is what the fleet has, and the end of what an earlier one had.
    """
    for node in fleet.nodes():
        name = str(node.node_name)
        client.label_node(name, {NODE_LABEL: "true", _POOL_LABEL: node.pool})
        if node.taint:
            client.taint_node(name, node.taint.key, node.taint.value, node.taint.effect)
    applied = manifests(fleet, image, token)
    for manifest in applied:
        client.apply(manifest)
    annotations = applied[-1]["spec"]["template"]["metadata"]["annotations"]
    return Rollout(client, fleet, annotations[REVISION], earlier)


def objects() -> tuple[Manifest, ...]:
    """Return as much of the plugin's objects as names them, whatever fleet they are of."""
    return tuple(_templates())


def is_there(client: "Client") -> bool:
    """Whether the plugin's DaemonSet is in the cluster."""
    from lab.cluster.connection import ApiFailed  # noqa: PLC0415 - loads the client library

    try:
        client.connection.get(DAEMON_SET_PATH)
    except ApiFailed as error:
        if error.is_missing:
            return False
        raise
    return True


def withdraw(client: "Client", earlier: Fleet, fleet: Fleet) -> None:
    """Take back what an earlier fleet put on nodes and this one does not.

    Nodes that have left the cluster are passed over.
    """
    names = {node.node_name for node in fleet.nodes()}
    taints = {(node.node_name, node.taint) for node in fleet.nodes()}
    left = [node for node in earlier.nodes() if (node.node_name, node.taint) not in taints]
    there = {node.name for node in client.nodes()} if left else set()
    for node in left:
        name = str(node.node_name)
        if name not in there:
            continue
        if node.taint:
            client.taint_node(name, node.taint.key, None, node.taint.effect)
        if name not in names:
            client.label_node(name, NO_LABELS)
