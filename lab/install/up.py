"""`gpulab up`: from a machine with Docker to a node whose fake devices can be asked for.

    choose a node image ─ create the cluster ─┬─ load the plugin image ─ deploy ─ allocatable
    build the plugin image ───────────────────┘   (beside the cluster's boot)

What this run creates, it removes again when it is interrupted or when the cluster cannot be
created; a cluster that stands is left for the user to look at.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lab.cluster.kind import config as kind_config
from lab.cluster.kind.cluster import KindCluster
from lab.cluster.kind.nodes import load_image
from lab.cluster.kind.program import find_kind
from lab.cluster.record import LabFolder, Record
from lab.core.errors import Interrupted, NotReady, UsageError
from lab.core.fleet import Fleet, load_fleet
from lab.host.checks.blockers import require_ready
from lab.host.docker import Docker
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.host.side_by_side import side_by_side
from lab.images.plugin import PluginImage, build_plugin_image
from lab.install import node_image, plugin
from lab.install.site import Site

BACKEND: Final = "kind"


@dataclass(frozen=True)
class Order:
    """What the user asked for. `timeout` bounds the wait for devices, in seconds."""

    name: str
    fleet: Fleet
    kind_config: Path | None
    node_image: str | None
    timeout: float


def bring_up(order: Order, site: Site) -> None:
    """Create the lab or bring it up to date, and wait for its devices."""
    cluster = KindCluster(order.name, site.docker, LabFolder.of(site.folders, order.name))
    with alone(site.folders, order.name):
        require_ready(site.docker)
        if _stands(cluster, site):
            image = build_plugin_image(site.processes, site.folders, site.progress)
            _install(order, site, cluster, image)
        else:
            _create(order, site, cluster)


@contextmanager
def alone(folders: Folders, name: str) -> Iterator[None]:
    """Refuse to work on a lab beside another `gpulab`."""
    locks = folders.cache / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(locks / f"{name}.lock", timeout=0):
            yield
    except Timeout as error:
        raise NotReady(
            f"another gpulab is at work on the lab {name!r}",
            remedy="let it finish, or give this lab another name",
            commands=("gpulab up --name another-name",),
        ) from error


def _stands(cluster: KindCluster, site: Site) -> bool:
    """Return whether there is a whole cluster of ours; removes what a crash left of one."""
    containers = cluster.containers()
    record = cluster.folder.read()
    if containers and record and record.phase == "ready":
        stopped = [each.name for each in containers if not each.running]
        if stopped:
            site.progress.note(f"starting the stopped nodes {', '.join(stopped)}")
            site.docker.run("start", *stopped)
        return True
    if containers or record:
        site.progress.note("removing what an unfinished start left behind")
        cluster.delete()
        cluster.folder.remove()
    return False


def _create(order: Order, site: Site, cluster: KindCluster) -> None:
    chosen = node_image.choose(site.docker, order.node_image)
    site.progress.note(
        f"backend {BACKEND}: Docker answers; node image {chosen.reference} ({chosen.reason})"
    )
    config = kind_config.for_lab(
        kind_config.load(order.kind_config),
        wanted_workers=len(order.fleet.nodes()),
        owner_mark=cluster.folder.owner_mark,
    )
    with undone_unless_it_stands(cluster), side_by_side(site.processes) as start:
        cluster.folder.write(Record(order.name, BACKEND, "creating", chosen.reference))
        image = start(lambda: build_plugin_image(site.processes, site.folders, site.progress))
        start(_load_client_library)
        kind = find_kind(site.processes, site.folders, site.progress)
        with site.progress.step(f"Creating the cluster {order.name!r}") as step:
            cluster.create(kind, site.processes, config, chosen.reference, step)
        built = image.result()
        cluster.folder.mark_ready()
        _install(order, site, cluster, built)


def _install(order: Order, site: Site, cluster: KindCluster, image: PluginImage) -> None:
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library

    workers = cluster.workers()
    if len(order.fleet.nodes()) > len(workers):
        raise UsageError(
            f"the fleet needs {len(order.fleet.nodes())} workers, and the lab that is there has "
            f"{len(workers)}",
            remedy="create the lab anew",
            commands=(f"gpulab down --name {order.name}", f"gpulab up --name {order.name}"),
        )
    fleet = order.fleet.placed_on(workers)
    with site.progress.step(f"Loading the plugin image ({image.size / 1e6:.0f} MB)"):
        load_image(site.processes, workers, image.archive)
    client = connect(cluster.folder.kubeconfig, order.name)
    with site.progress.step("Deploying the device plugin"):
        if cluster.folder.fleet.exists():
            plugin.withdraw(client, load_fleet(cluster.folder.fleet), fleet)
        plugin.deploy(client, fleet, image.reference)
        cluster.folder.fleet.write_text(fleet.to_yaml(), encoding="utf-8")
    with site.progress.step("Waiting for the devices to become allocatable") as step:
        plugin.wait_for_allocatable(client, plugin.wanted_by(fleet), order.timeout, step)


@contextmanager
def undone_unless_it_stands(cluster: KindCluster) -> Iterator[None]:
    """Remove the cluster when the block is interrupted, or fails before the cluster stands."""
    try:
        yield
    except BaseException as error:
        record = cluster.folder.read()
        if (
            isinstance(error, Interrupted | KeyboardInterrupt)
            or not record
            or record.phase != "ready"
        ):
            # The command's own processes are cancelled by now; the removal needs fresh ones.
            fresh = KindCluster(cluster.name, Docker(Processes()), cluster.folder)
            fresh.delete(just_interrupted=True)
            fresh.folder.remove()
        raise


def _load_client_library() -> None:
    """Load the Kubernetes client (half a second) while the cluster boots."""
    import lab.cluster.client  # noqa: F401, PLC0415 - see above
