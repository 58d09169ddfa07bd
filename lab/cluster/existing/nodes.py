"""The nodes of a cluster that was there before: which ones a fleet may have, and what they are."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from lab.cluster.objects import Node
from lab.core.errors import CheckFailed, NotReady, TimedOut, UsageError
from lab.host.docker import CLUSTER_LABEL, Docker

if TYPE_CHECKING:
    from lab.cluster.client import Client

CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"
#: What kind writes into `spec.providerID`, followed by the cluster's name and the node's.
_KIND: Final = "kind://docker/"
_SHOWN: Final = 12


def chosen_nodes(nodes: Sequence[Node], names: Sequence[str]) -> tuple[str, ...]:
    """Return the nodes that are named, in that order; without any, all workers by name.

    In a cluster of control planes alone, these are the workers. Raises `UsageError` for a name
    that is none of a node.
    """
    known = [node.name for node in nodes]
    strangers = [name for name in names if name not in known]
    if strangers:
        raise UsageError(
            f"the cluster has no node {', '.join(strangers)}",
            seen=f"nodes that it has: {', '.join(known[:_SHOWN])}",
            remedy="name some of these with --nodes",
        )
    workers = [node.name for node in nodes if CONTROL_PLANE not in node.labels]
    return tuple(dict.fromkeys(names)) or tuple(workers or known)


def are_containers(client: "Client", nodes: Sequence[str], docker: Docker) -> bool:
    """Whether all of these nodes are kind's, in the Docker engine that this machine talks to."""
    clusters = _kind_clusters(client)
    return all(name in clusters and _is_container(name, clusters[name], docker) for name in nodes)


def _kind_clusters(client: "Client") -> Mapping[str, str]:
    """Return the name of the kind cluster of each node that says it is of one."""
    found = {}
    for each in client.connection.get("/api/v1/nodes")["items"]:
        provider = str(each["spec"].get("providerID", ""))
        if provider.startswith(_KIND):
            found[str(each["metadata"]["name"])] = provider.removeprefix(_KIND).partition("/")[0]
    return found


def _is_container(node: str, cluster: str, docker: Docker) -> bool:
    try:
        container = docker.container(node)
    except (NotReady, TimedOut, CheckFailed):
        # No engine, or none that answers: whatever the node is, nothing can be streamed into it.
        return False
    return container is not None and container.labels.get(CLUSTER_LABEL) == cluster
