"""What a lab looks like now: its nodes, their devices, its plugins."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, Final

from lab.cluster.access import DEVICE_PLUGIN_DIR, NodeAccess
from lab.cluster.client import Client, connect
from lab.cluster.objects import Node, Pod
from lab.cluster.record import LabFolder, Record
from lab.core.errors import CheckFailed, NotReady
from lab.core.fleet import Fleet
from lab.install.backend import Backend
from lab.install.backends import backend_of
from lab.install.rollout import NAMESPACE, SELECTOR, due_by, missing
from lab.install.site import Site

_ENDED: Final = frozenset({"Succeeded", "Failed"})


class NoLab(NotReady):
    """There is no lab of the name."""


@dataclass(frozen=True)
class Devices:
    """One resource of one node. `requested` is the sum over the node's pods that have not ended."""

    capacity: int
    allocatable: int
    requested: int


@dataclass(frozen=True)
class NodeStatus:
    """A node; `pool` is empty for a node outside of the fleet.

    `outside` are those of its resources that are not the fleet's: of another plugin, or of an
    earlier fleet, whose names the kubelet keeps with 0 devices until the node is made anew.
    """

    name: str
    ready: bool
    pool: str
    resources: dict[str, Devices]
    outside: frozenset[str] = frozenset()
    device_plugin_dir: str = DEVICE_PLUGIN_DIR

    def pool_of(self, resource: str) -> str:
        """Return what a table has for the pool of one of the resources."""
        if resource not in self.outside:
            return self.pool or "-"
        return "-" if self.resources[resource].capacity else "- (earlier)"


@dataclass(frozen=True)
class PluginStatus:
    """A device plugin's pod."""

    node: str
    pod: str
    ready: bool
    restarts: int
    image: str


@dataclass(frozen=True)
class LabStatus:
    """A lab; ready when its nodes are, and all devices that its fleet wants are allocatable."""

    name: str
    backend: str
    kubernetes: str
    kubeconfig: str
    ready: bool
    nodes: tuple[NodeStatus, ...]
    plugins: tuple[PluginStatus, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the contract for tools: `gpulab status --output json`."""
        return {
            "name": self.name,
            "backend": self.backend,
            "kubernetes": self.kubernetes,
            "kubeconfig": self.kubeconfig,
            "ready": self.ready,
            "nodes": [_node_json(node) for node in self.nodes],
            "plugins": [asdict(plugin) for plugin in self.plugins],
        }


@dataclass(frozen=True)
class RunningLab:
    """A lab that was made: what is recorded of it, its files, and the ways to its cluster."""

    record: Record
    folder: LabFolder
    client: Client
    backend: Backend

    @property
    def access(self) -> NodeAccess:
        """The way to its nodes from outside of Kubernetes."""
        return self.backend.access

    def deployed_fleet(self) -> Fleet:
        """Return the fleet that is placed on it; raises `CheckFailed` where there is none."""
        fleet = self.folder.placed_fleet()
        if fleet is None:
            raise CheckFailed(
                "no fleet was deployed to the lab yet",
                where=str(self.folder.path),
                remedy="bring it up",
                commands=(f"gpulab up --name {self.record.name}",),
            )
        return fleet


def running_lab(site: Site, name: str) -> RunningLab:
    """Find a lab and connect to it.

    Raises `NoLab` where there is none, `NotReady` for one that is still being created, `ApiFailed`
    where its kubeconfig is lost.
    """
    folder = LabFolder.of(site.folders, name)
    folder.require_place()
    record = folder.read()
    if record is None:
        raise no_lab(site, name)
    if record.phase == "creating" and not folder.kubeconfig.exists():
        raise NotReady(
            f"the creation of the lab {name!r} has not ended",
            where=str(folder.path),
            remedy="let it end; if no gpulab is at work on it any more, create it again",
            commands=(f"gpulab up --name {name}",),
        )
    if record.backend == "existing" and not folder.kubeconfig.exists():
        raise NotReady(
            "the lab's copy of your kubeconfig is gone",
            where=str(folder.kubeconfig),
            remedy="give it the kubeconfig of its cluster again",
            commands=(f"gpulab up --name {name} --kubeconfig FILE",),
        )
    client = connect(folder.kubeconfig, name, record.backend)
    return RunningLab(record, folder, client, backend_of(record, folder, client, site))


def no_lab(site: Site, name: str, *making: str) -> NoLab:
    """Return the error that there is no lab of this name, with the names of those that there are.

    `making` are the words by which the command that was typed makes one for itself, if it can.
    """
    there, again = LabFolder.names(site.folders), site.again
    nearest = get_close_matches(name, there, n=1, cutoff=0)
    ways = ["name one that there is"] * bool(there) + ["create it"]
    ways += ["have one that is there for this run only"] * bool(making)
    return NoLab(
        f"there is no lab {name!r}",
        where=str(LabFolder.of(site.folders, name).path),
        seen=f"labs that there are: {', '.join(there)}" if there else "",
        remedy=", or ".join(ways),
        commands=(
            *(again(each) for each in nearest if again),
            f"gpulab up --name {name}",
            *((again(name, *making),) if again and making else ()),
        ),
    )


def observe(lab: RunningLab) -> LabStatus:
    """Ask the cluster, and return what it says."""
    fleet = lab.folder.placed_fleet()
    pods = lab.client.pods()
    nodes = lab.client.nodes()
    return LabStatus(
        name=lab.record.name,
        backend=lab.record.backend,
        kubernetes=lab.client.version(),
        kubeconfig=str(lab.folder.kubeconfig),
        ready=fleet is not None and not missing(nodes, due_by(fleet)),
        nodes=tuple(_node_status(node, pods, fleet, lab.access) for node in nodes),
        plugins=tuple(_plugin_status(pod) for pod in lab.client.pods(NAMESPACE, SELECTOR)),
    )


def requested_on(node: str, pods: Iterable[Pod]) -> Counter[str]:
    """Return what the pods of a node ask for, by resource: those that have ended ask no more."""
    requested: Counter[str] = Counter()
    for pod in pods:
        if pod.node == node and pod.phase not in _ENDED:
            requested.update(pod.requests)
    return requested


def _node_status(
    node: Node, pods: tuple[Pod, ...], fleet: Fleet | None, access: NodeAccess
) -> NodeStatus:
    requested = requested_on(node.name, pods)
    members = [each for each in fleet.nodes() if each.node_name == node.name] if fleet else []
    wanted = {resource for each in members for resource in each.devices}
    return NodeStatus(
        name=node.name,
        ready=node.ready,
        pool=",".join(each.pool for each in members),
        resources={
            resource: Devices(capacity, node.allocatable.get(resource, 0), requested[resource])
            for resource, capacity in sorted(node.capacity.items())
        },
        outside=frozenset(node.capacity.keys() - wanted),
        device_plugin_dir=access.device_plugin_dir(node.name),
    )


def _plugin_status(pod: Pod) -> PluginStatus:
    return PluginStatus(pod.node, pod.name, pod.ready, pod.restarts, pod.images[0])


def _node_json(node: NodeStatus) -> dict[str, Any]:
    return {
        "name": node.name,
        "ready": node.ready,
        "pool": node.pool,
        "devicePluginDir": node.device_plugin_dir,
        "resources": {name: asdict(devices) for name, devices in node.resources.items()},
    }
