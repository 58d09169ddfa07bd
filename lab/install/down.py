"""`gpulab down`: takes away what `up` made, and nothing else."""

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder, RecordDamaged
from lab.install.existing.removal import detach
from lab.install.kind.removal import remove
from lab.install.lock import alone_at
from lab.install.site import Site


def take_down(name: str, site: Site) -> bool:
    """Remove the lab and its files; return whether there was anything to remove.

    Works on whatever is there: a whole lab, half of one, files without nodes, nodes without files.
    Raises `NotReady` where no engine answers, for it might have nodes of the lab.
    """
    folder = LabFolder.of(site.folders, name)
    with alone_at(site, name):
        if _is_on_existing(folder):
            with site.progress.step(f"Removing the lab {name!r} from its cluster"):
                detach(folder, site.progress)
            return True
        cluster = KindCluster(name, site.docker, folder)
        site.docker.engine()
        found = cluster.containers()
        there = bool(found) or folder.path.exists()
        if there:
            with site.progress.step(f"Removing the lab {name!r} ({len(found)} nodes)"):
                remove(cluster)
    return there


def _is_on_existing(folder: LabFolder) -> bool:
    """Whether a lab is on a cluster of the user; a kind cluster is made from a file of its own."""
    try:
        record = folder.read()
    except RecordDamaged:
        return folder.kubeconfig.exists() and not folder.kind_config.exists()
    return record is not None and record.backend == "existing"
