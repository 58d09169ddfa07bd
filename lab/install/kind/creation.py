"""Makes the kind cluster of a lab, with the plugin's image in its nodes.

┌─ create the cluster ──────────────────────────┐
└─ build the plugin image ─ load it into nodes ─┴─ it stands
"""

from collections.abc import Sequence

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.kind.config import KindConfig
from lab.cluster.kind.nodes import wait_for_runtimes
from lab.cluster.kind.program import find_kind
from lab.host.side_by_side import settle, side_by_side
from lab.images.plugin import build_plugin_image
from lab.install.backend import Image
from lab.install.kind.backend import load
from lab.install.site import Site


def create(cluster: KindCluster, config: KindConfig, node_image: str, site: Site) -> Image:
    """Create the cluster; return the plugin's image, which its workers have."""
    workers = cluster.workers_of(config)
    with side_by_side(site.processes) as start:
        start(_load_client_library)
        image = start(lambda: _image_in(cluster, workers, site))
        made = start(lambda: _make(cluster, config, node_image, site))
        settle(image, made)
    cluster.folder.mark_ready()
    return image.result()


def _make(cluster: KindCluster, config: KindConfig, node_image: str, site: Site) -> None:
    kind = find_kind(site.processes, site.folders, site.progress)
    with site.progress.step(f"Creating the cluster {cluster.name!r}") as step:
        cluster.create(kind, site.processes, config, node_image, step)


def _image_in(cluster: KindCluster, nodes: Sequence[str], site: Site) -> Image:
    """Build the plugin image, and load it into nodes that are only just being made."""
    image = build_plugin_image(site.processes, site.folders, site.progress)
    # kind may have an image to pull, or itself to be built, first: that has no limit of ours.
    cluster.wait_until_it_shows()
    wait_for_runtimes(site.processes, nodes)
    return load(image, nodes, site.processes, site.progress)


def _load_client_library() -> None:
    """Load the Kubernetes client (half a second) while the cluster boots."""
    import lab.cluster.client  # noqa: F401, PLC0415 - see above
