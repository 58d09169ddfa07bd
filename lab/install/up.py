"""`gpulab up`: from a machine with Docker to a node whose fake devices can be asked for.

    choose a node image ─┬─ create the cluster ──────────────────────────┬─ deploy ─ allocatable
                         └─ build the plugin image ─ load it into nodes ─┘

What this run creates, it removes again when it is interrupted or when the cluster cannot be
created; a cluster that stands is left for the user to look at.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from fake_plugin.fleet.notices import notices_of
from lab.cluster.kind import config as kind_config
from lab.cluster.kind.cluster import KindCluster
from lab.cluster.kind.config import KindConfig
from lab.cluster.kind.nodes import load_image, wait_for_runtimes
from lab.cluster.kind.program import find_kind
from lab.cluster.record import LabFolder, Record, RecordDamaged
from lab.core.errors import Interrupted, TimedOut, UsageError
from lab.core.fleet import Fleet, dump_fleet, held_back, holdings
from lab.core.progress import Progress
from lab.host.checks.blockers import require_ready
from lab.host.docker import Docker, Engine
from lab.host.processes import Processes
from lab.host.side_by_side import settle, side_by_side
from lab.images.plugin import PluginImage, build_plugin_image
from lab.install import deployment, node_image, plugin_image
from lab.install.down import remove
from lab.install.lock import alone
from lab.install.rivals import refuse_rivals
from lab.install.site import Site

BACKEND: Final = "kind"
_START_SECONDS: Final = 60


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
        engine = require_ready(site.docker)
        if _stands(cluster, site):
            site.progress.note(f"backend {BACKEND}: the lab {order.name!r} is there")
            _say_what_is_not_used(order, cluster, site)
            image = build_plugin_image(site.processes, site.folders, site.progress)
            _load(image, cluster.workers(), site)
            _install(order, site, cluster, image)
        else:
            _create(order, site, cluster, engine)


def _stands(cluster: KindCluster, site: Site) -> bool:
    """Return whether there is a whole cluster of ours; removes what a crash left of one."""
    containers = cluster.containers()
    record = cluster.folder.read()
    if containers and record and record.phase == "ready":
        stopped = [each.name for each in containers if not each.running]
        if stopped:
            with site.progress.step(f"Starting the stopped nodes {', '.join(stopped)}"):
                _start(cluster, stopped, site)
        return True
    if containers or record:
        site.progress.note("removing what an unfinished start left behind")
        remove(cluster)
    return False


def _say_what_is_not_used(order: Order, cluster: KindCluster, site: Site) -> None:
    record = cluster.folder.read()
    if record and order.node_image not in (None, record.node_image):
        site.progress.note(
            f"the lab's nodes stay on {record.node_image}: {order.node_image} is for a new lab"
        )


def _start(cluster: KindCluster, stopped: Sequence[str], site: Site) -> None:
    """Start nodes, and wait until their kubelets report: what the API has of them is old."""
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library

    started = datetime.now(UTC)
    site.docker.run("start", *stopped)
    client = connect(cluster.folder.kubeconfig, cluster.name)
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


def _create(order: Order, site: Site, cluster: KindCluster, engine: Engine) -> None:
    config = kind_config.for_lab(
        kind_config.load(order.kind_config),
        wanted_workers=order.fleet.workers(),
        owner_mark=cluster.folder.owner_mark,
    )
    # A fleet that names other nodes is refused now, and not when the cluster stands.
    order.fleet.placed_on(cluster.workers_of(config))
    chosen = node_image.choose(site.docker, order.node_image, engine=engine)
    plugin_image.require_source(site.docker, site.folders, engine=engine)
    site.progress.note(
        f"backend {BACKEND}: Docker answers; node image {chosen.reference} ({chosen.reason})"
    )
    with undone_unless_it_stands(cluster, site.progress), side_by_side(site.processes) as start:
        cluster.folder.write(Record(order.name, BACKEND, "creating", chosen.reference))
        start(_load_client_library)
        image = start(lambda: _image_in(cluster, cluster.workers_of(config), site))
        made = start(lambda: _make(cluster, config, chosen.reference, site))
        settle(image, made)
        cluster.folder.mark_ready()
        _install(order, site, cluster, image.result())


def _make(cluster: KindCluster, config: KindConfig, image: str, site: Site) -> None:
    kind = find_kind(site.processes, site.folders, site.progress)
    with site.progress.step(f"Creating the cluster {cluster.name!r}") as step:
        cluster.create(kind, site.processes, config, image, step)


def _image_in(cluster: KindCluster, nodes: Sequence[str], site: Site) -> PluginImage:
    """Build the plugin image, and load it into nodes that are only just being made."""
    image = build_plugin_image(site.processes, site.folders, site.progress)
    # kind may have an image to pull, or itself to be built, first: that has no limit of ours.
    cluster.wait_until_it_shows()
    wait_for_runtimes(site.processes, nodes)
    _load(image, nodes, site)
    return image


def _load(image: PluginImage, nodes: Sequence[str], site: Site) -> None:
    with site.progress.step(f"Loading the plugin image ({image.size / 1e6:.0f} MB)"):
        load_image(site.processes, nodes, image.archive, image.reference)


def _install(order: Order, site: Site, cluster: KindCluster, image: PluginImage) -> None:
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library

    workers = cluster.workers()
    if order.fleet.workers() > len(workers):
        raise UsageError(
            f"the fleet needs {order.fleet.workers()} workers, and the lab that is there has "
            f"{len(workers)}",
            remedy="remove the lab, then create it with this fleet; what is in it is lost",
            commands=(f"gpulab down --name {order.name}",),
        )
    fleet = order.fleet.placed_on(workers)
    client = connect(cluster.folder.kubeconfig, order.name)
    _say_what_is_overlooked(fleet, site.progress)
    earlier = _earlier(cluster, site.progress)
    with site.progress.step("Deploying the device plugin"):
        refuse_rivals(client.nodes(), fleet, earlier, cluster.folder.kubeconfig)
        if earlier:
            deployment.withdraw(client, earlier, fleet)
        # First, so that an `up` that is interrupted here knows the next time what is its own.
        cluster.folder.write_text(cluster.folder.fleet, dump_fleet(fleet))
        token = cluster.folder.control_token()
        rollout = deployment.deploy(client, fleet, image.reference, token)
    _say_what_is_held_back(fleet, site.progress)
    with site.progress.step("Waiting for the devices to become allocatable") as step:
        rollout.wait(order.timeout, step, order.name)


def _say_what_is_overlooked(fleet: Fleet, progress: Progress) -> None:
    for pool in fleet.pools:
        for notice in notices_of(pool.share(0)):
            progress.note(f"pool {pool.name}: {notice.key}: {notice.what}")


def _say_what_is_held_back(fleet: Fleet, progress: Progress) -> None:
    for each in holdings(held_back(fleet)):
        progress.note(f"not waited for: {each.what}; rule {each.rule} holds it back ({each.does})")


def _earlier(cluster: KindCluster, progress: Progress) -> Fleet | None:
    try:
        return cluster.folder.placed_fleet()
    except RecordDamaged as error:
        progress.note(f"{error.what}: labels and taints of the earlier fleet stay")
        return None


@contextmanager
def undone_unless_it_stands(cluster: KindCluster, progress: Progress) -> Iterator[None]:
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
            with progress.step("Removing what was made of it"):
                remove(fresh, just_interrupted=True)
        raise


def _load_client_library() -> None:
    """Load the Kubernetes client (half a second) while the cluster boots."""
    import lab.cluster.client  # noqa: F401, PLC0415 - see above
