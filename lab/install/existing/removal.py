"""Takes a lab out of a cluster that goes on: its plugins, and what it put on nodes."""

from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from lab.cluster.record import LabFolder, RecordDamaged
from lab.core.errors import CleanUpFailed, Interrupted, LabError, NotReady
from lab.core.fleet import Fleet
from lab.core.progress import Progress
from lab.host.processes import pasteable
from lab.install import deployment
from lab.install.deployment import NO_LABELS, NODE_LABEL
from lab.install.existing.backend import access_of
from lab.install.existing.occupant import occupant
from lab.install.rollout import NAMESPACE, SELECTOR, wanted_by

if TYPE_CHECKING:
    from lab.cluster.client import Client
    from lab.cluster.existing.access import ExistingAccess

_PODS_SECONDS: Final = 60.0
#: That many nodes are tidied up at once.
_AT_ONCE: Final = 8
#: What the plugin keeps on a node: its hardware's state, and the vendors' tools.
_STATE: Final = "/var/lib/gpu-lab"


def detach(folder: LabFolder, progress: Progress) -> None:
    """Remove what the lab put into its cluster, and then its files; never the cluster.

    Raises `CleanUpFailed` where the cluster cannot be asked: the files stay, to try again.
    """
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library

    try:
        if folder.kubeconfig.exists():
            client = connect(folder.kubeconfig, folder.path.name, "existing")
            _leave(client, folder, progress)
        elif folder.fleet.exists():
            raise NotReady("the lab's copy of your kubeconfig is gone")
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted while the lab {folder.path.name!r} was removed: some of it is still "
            "there",
            commands=(f"gpulab down --name {folder.path.name}",),
        ) from error
    except LabError as error:
        raise CleanUpFailed(
            "the lab could not be removed from its cluster",
            where=error.where or str(folder.kubeconfig),
            seen=error.brief,
            remedy="try again when the cluster can be asked; where it is gone for good, remove the "
            "lab's files",
            commands=(
                f"gpulab down --name {folder.path.name}",
                pasteable(("rm", "-r", str(folder.path))),
            ),
        ) from error
    folder.remove()


def _leave(client: "Client", folder: LabFolder, progress: Progress) -> None:
    found = occupant(client)
    if found and found.token != folder.known_token():
        progress.note("another lab is on the cluster by now: nothing was removed from there")
        return
    access = access_of(client, folder)
    access.end_all()
    fleet = _fleet(folder, progress)
    deployment.withdraw(client, fleet, Fleet(()))
    mine = {*wanted_by(fleet), *_nodes_of(folder)}
    nodes = [node for node in client.nodes() if node.name in mine or NODE_LABEL in node.labels]
    for node in nodes:
        # Where the copy of the fleet is damaged, the label alone tells.
        if NODE_LABEL in node.labels:
            client.label_node(node.name, NO_LABELS)
    _wait_until_plugins_are_gone(client, {node.name for node in nodes})
    # Without it nothing was deployed, or an earlier `down` has come this far.
    if deployment.is_there(client):
        _remove_files(access, [node.name for node in nodes], progress)
    # Last, since the pods that act on nodes start from the image that is named there.
    for manifest in deployment.objects():
        client.delete(manifest)
    resources = {resource for devices in wanted_by(fleet).values() for resource in devices}
    for resource in sorted(resources):
        keeping = [node.name for node in nodes if resource in node.capacity]
        if keeping:
            progress.note(
                f"{resource}: the kubelets of {', '.join(keeping)} keep the name, with 0 devices, "
                "as of any plugin that has gone"
            )


def _remove_files(access: "ExistingAccess", nodes: Sequence[str], progress: Progress) -> None:
    """Remove what the plugins keep on nodes, where a pod may do that; say where it stays."""

    def remove(node: str) -> str:
        try:
            access.run(node, ("rm", "-rf", _STATE))
        except LabError as error:
            return f"files of the plugin stay in {_STATE} of {node}: {error.seen or error.what}"
        return ""

    with ThreadPoolExecutor(_AT_ONCE) as removers:
        for stays in filter(None, removers.map(remove, nodes)):
            progress.note(stays)


def _nodes_of(folder: LabFolder) -> tuple[str, ...]:
    try:
        record = folder.read()
    except RecordDamaged:
        return ()
    return record.nodes if record else ()


def _fleet(folder: LabFolder, progress: Progress) -> Fleet:
    try:
        return folder.placed_fleet() or Fleet(())
    except RecordDamaged as error:
        progress.note(f"{error.what}: taints of the fleet stay on the nodes")
        return Fleet(())


def _wait_until_plugins_are_gone(client: "Client", nodes: Container[str]) -> None:
    """Wait for the plugins to end, which take their sockets and specs along."""
    for pods in client.pod_changes(NAMESPACE, SELECTOR, _PODS_SECONDS):
        if not any(pod.node in nodes for pod in pods):
            return
