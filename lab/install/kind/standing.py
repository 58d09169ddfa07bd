"""The kind cluster of a lab, as `up` needs it: the one that is there, else a new one.

What is created here is removed again when it does not come to its end, or when what is then done
with it is interrupted; a cluster that stands is left for the user to look at.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Final

from lab.cluster.kind import config as kind_config
from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder, Record
from lab.core.errors import TimedOut
from lab.core.progress import Progress
from lab.host.checks.blockers import require_ready
from lab.host.docker import Docker, Engine
from lab.host.processes import Processes
from lab.install import node_image, plugin_image
from lab.install.backend import Image
from lab.install.kind.creation import create
from lab.install.kind.removal import remove
from lab.install.order import Order
from lab.install.site import Site

BACKEND: Final = "kind"
_START_SECONDS: Final = 60


@contextmanager
def standing(order: Order, site: Site) -> Iterator[Image | None]:
    """Find or create the cluster that is ordered, for the block.

    Yields the plugin's image where the nodes were given it just now. A cluster that was created
    is removed where the block is interrupted.
    """
    cluster = KindCluster(order.name, site.docker, LabFolder.of(site.folders, order.name))
    engine = require_ready(site.docker)
    if _stands(cluster, site):
        site.progress.note(f"backend {BACKEND}: the lab {order.name!r} is there")
        _say_what_is_not_used(order, cluster, site.progress)
        yield None
    else:
        with _created(order, site, cluster, engine) as image:
            yield image


@contextmanager
def _created(order: Order, site: Site, cluster: KindCluster, engine: Engine) -> Iterator[Image]:
    config = kind_config.for_lab(
        kind_config.load(order.kind_config or order.found_config),
        wanted_workers=max(order.fleet.workers(), order.workers),
        owner_mark=cluster.folder.owner_mark,
    )
    # A fleet that names other nodes is refused now, and not when the cluster stands.
    order.fleet.placed_on(cluster.workers_of(config))
    chosen = node_image.choose(site.docker, order.node_image, engine=engine)
    plugin_image.require_source(site.docker, site.folders, engine=engine)
    site.progress.note(
        f"backend {BACKEND}: Docker answers; node image {chosen.reference} ({chosen.reason})"
    )
    with undone_unless_it_stands(cluster, site.progress):
        cluster.folder.write(Record(order.name, BACKEND, "creating", chosen.reference))
        yield create(cluster, config, chosen.reference, site)


def _stands(cluster: KindCluster, site: Site) -> bool:
    """Return whether there is a whole cluster of ours; removes what a crash left of one."""
    containers = cluster.containers()
    record = cluster.folder.read()
    if containers and record and record.phase == "ready":
        stopped = [each.name for each in containers if not each.running]
        if stopped:
            with site.progress.step(f"Starting the stopped nodes {', '.join(stopped)}"):
                _start(cluster, stopped, site.docker)
        return True
    if containers or record:
        site.progress.note("removing what an unfinished start left behind")
        remove(cluster)
    return False


def _say_what_is_not_used(order: Order, cluster: KindCluster, progress: Progress) -> None:
    record = cluster.folder.read()
    if record and order.node_image not in (None, record.node_image):
        progress.note(
            f"the lab's nodes stay on {record.node_image}: {order.node_image} is for a new lab"
        )


def _start(cluster: KindCluster, stopped: Sequence[str], docker: Docker) -> None:
    """Start nodes, and wait until their kubelets report: what the API has of them is old."""
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library

    started = datetime.now(UTC)
    docker.run("start", *stopped)
    client = connect(cluster.folder.kubeconfig, cluster.name, "kind")
    client.wait_until_it_answers(_START_SECONDS)
    for nodes in client.node_changes(_START_SECONDS):
        silent = [node.name for node in nodes if not node.heard_since(started)]
        if not set(silent) & set(stopped):
            return
    raise TimedOut(
        f"nodes that were started did not report within {_START_SECONDS} s",
        where=", ".join(set(silent) & set(stopped)),
        remedy="see what they say, or create the lab anew",
        commands=(f"docker logs {stopped[0]}", f"gpulab down --name {cluster.name}"),
    )


@contextmanager
def undone_unless_it_stands(cluster: KindCluster, progress: Progress) -> Iterator[None]:
    """Remove the cluster when the block is interrupted, or fails before the cluster stands."""
    try:
        yield
    except BaseException as error:
        record = cluster.folder.read()
        if isinstance(error, KeyboardInterrupt) or not record or record.phase != "ready":
            # The command's own processes are cancelled by now; the removal needs fresh ones.
            fresh = KindCluster(cluster.name, Docker(Processes()), cluster.folder)
            with progress.step("Removing what was made of it"):
                remove(fresh, just_interrupted=True)
        raise
