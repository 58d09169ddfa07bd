"""`gpulab down`: takes away what `up` made, and nothing else."""

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder
from lab.install.site import Site
from lab.install.up import alone


def take_down(name: str, site: Site) -> bool:
    """Remove the lab's nodes and files; return whether there was anything to remove.

    Works on whatever is there: a whole lab, half of one, files without nodes, nodes without files.
    """
    folder = LabFolder.of(site.folders, name)
    cluster = KindCluster(name, site.docker, folder)
    with alone(site.folders, name):
        found = cluster.containers()
        if not found and not folder.path.exists():
            return False
        with site.progress.step(f"Removing the lab {name!r} ({len(found)} nodes)"):
            cluster.delete()
            folder.remove()
    return True
