"""Places a fleet on a lab that runs: another one takes over from the one before."""

from typing import TYPE_CHECKING, Final

from fake_plugin.fleet.notices import notices_of
from lab.cluster.objects import Node
from lab.cluster.record import RecordDamaged
from lab.core.deadlines import DEVICES_SECONDS
from lab.core.errors import TimedOut
from lab.core.fleet import Fleet, dump_fleet, held_back, holdings
from lab.core.progress import Progress
from lab.install import deployment
from lab.install.backend import Image
from lab.install.rivals import refuse_rivals
from lab.install.rollout import wanted_by

if TYPE_CHECKING:
    from lab.install.status import RunningLab

#: How long the kubelets of a cluster that has just been made may take to register.
_NODES_SECONDS: Final = 60.0


def place(
    lab: "RunningLab",
    fleet: Fleet,
    progress: Progress,
    timeout: float = DEVICES_SECONDS,
    *,
    image: Image | None = None,
) -> Fleet:
    """Deploy the plugin of a fleet, wait until its devices are there, and return it as placed.

    What an earlier fleet has on the nodes is taken back. `image` is the plugin's where all nodes
    have it already. Raises `UsageError` where the cluster has no place for the fleet, or another
    plugin serves its resources: nothing has changed then; `TimedOut` after `timeout` seconds
    without the devices.
    """
    placed = lab.backend.placed(fleet)
    image = image or lab.backend.provide_image(tuple(wanted_by(placed)), progress)
    _say_what_is_overlooked(placed, progress)
    earlier = _earlier(lab, progress)
    with progress.step("Deploying the device plugin"):
        nodes = _registered(lab, placed)
        refuse_rivals(nodes, placed, earlier, lab.folder.kubeconfig)
        if earlier:
            deployment.withdraw(lab.client, earlier, placed)
        # First, so that one who is interrupted here knows the next time what is the lab's own.
        lab.folder.write_text(lab.folder.fleet, dump_fleet(placed))
        token = lab.folder.control_token()
        rollout = deployment.deploy(lab.client, placed, image, token, earlier)
    _say_what_is_held_back(placed, progress)
    with progress.step("Waiting for the devices to become allocatable") as step:
        rollout.wait(timeout, step, lab.record.name)
    return placed


def _registered(lab: "RunningLab", fleet: Fleet) -> tuple[Node, ...]:
    """Return the cluster's nodes, when those of the fleet are among them.

    kubeadm's join ends when a kubelet has started; on a slow machine it registers seconds later.
    """
    wanted = wanted_by(fleet).keys()
    for nodes in lab.client.node_changes(_NODES_SECONDS):
        late = wanted - {node.name for node in nodes}
        if not late:
            return nodes
    raise TimedOut(
        f"nodes of the fleet did not register within {_NODES_SECONDS:g} s",
        where=", ".join(sorted(late)),
        seen=f"nodes that the API server knows: {', '.join(node.name for node in nodes)}",
        remedy="see what their kubelets say, and bring the lab up again",
        commands=(f"gpulab up --name {lab.record.name}",),
    )


def _say_what_is_overlooked(fleet: Fleet, progress: Progress) -> None:
    for pool in fleet.pools:
        for notice in notices_of(pool.share(0)):
            progress.note(f"pool {pool.name}: {notice.key}: {notice.what}")


def _say_what_is_held_back(fleet: Fleet, progress: Progress) -> None:
    for each in holdings(held_back(fleet)):
        progress.note(f"not waited for: {each.what}; rule {each.rule} holds it back ({each.does})")


def _earlier(lab: "RunningLab", progress: Progress) -> Fleet | None:
    try:
        return lab.folder.placed_fleet()
    except RecordDamaged as error:
        progress.note(f"{error.what}: labels and taints of the earlier fleet stay")
        return None
