"""`gpulab down`: takes away what `up` made, and nothing else."""

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder
from lab.install.kind.removal import remove
from lab.install.lock import alone
from lab.install.site import Site


def take_down(name: str, site: Site) -> bool:
    """Remove the lab's nodes and files; return whether there was anything to remove.

    Works on whatever is there: a whole lab, half of one, files without nodes, nodes without files.
    Raises `NotReady` where no engine answers, for it might have nodes of the lab.
    """
    folder = LabFolder.of(site.folders, name)
    cluster = KindCluster(name, site.docker, folder)
    with alone(site.folders, name):
        site.docker.engine()
        found = cluster.containers()
        there = bool(found) or folder.path.exists()
        if there:
            with site.progress.step(f"Removing the lab {name!r} ({len(found)} nodes)"):
                remove(cluster)
    return there
