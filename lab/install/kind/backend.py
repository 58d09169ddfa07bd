"""The backend `kind`: nodes are containers, and images are streamed into them."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.cluster.kind.access import KindAccess
from lab.cluster.kind.cluster import KindCluster
from lab.cluster.kind.nodes import load_image
from lab.core.fleet import Fleet
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.plugin import PluginImage, build_plugin_image
from lab.install.backend import Image, NoPlace


@dataclass(frozen=True)
class KindBackend:
    """See `lab.install.backend.Backend`."""

    cluster: KindCluster
    folders: Folders

    @property
    def access(self) -> KindAccess:
        """See `Backend.access`."""
        return KindAccess(self.cluster.docker)

    def placed(self, fleet: Fleet) -> Fleet:
        """See `Backend.placed`. A kind cluster does not grow."""
        workers = self.cluster.workers()
        if fleet.workers() > len(workers):
            raise NoPlace(
                f"the fleet needs {fleet.workers()} workers, and the lab that is there has "
                f"{len(workers)}",
                remedy="remove the lab, then create it with this fleet; what is in it is lost",
                commands=(f"gpulab down --name {self.cluster.name}",),
            )
        return fleet.placed_on(workers)

    def provide_image(self, nodes: Sequence[str], progress: Progress) -> Image:
        """See `Backend.provide_image`."""
        return provide(nodes, self.cluster.docker.processes, self.folders, progress)


def provide(
    nodes: Sequence[str], processes: Processes, folders: Folders, progress: Progress
) -> Image:
    """Build the plugin's image where need be, and stream it into nodes that are containers."""
    return load(build_plugin_image(processes, folders, progress), nodes, processes, progress)


def load(
    image: PluginImage, nodes: Sequence[str], processes: Processes, progress: Progress
) -> Image:
    """Stream the plugin's image into nodes that are containers, where it is not there yet."""
    with progress.step(f"Loading the plugin image ({image.size / 1e6:.0f} MB)"):
        load_image(processes, nodes, image.archive, image.reference)
    return Image(image.reference)
