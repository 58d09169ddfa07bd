"""The backend of a lab, as its record names it."""

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder
from lab.install.backend import Backend
from lab.install.kind.backend import KindBackend
from lab.install.site import Site


def backend_of(folder: LabFolder, site: Site) -> Backend:
    """Return the backend of a lab."""
    return KindBackend(KindCluster(folder.path.name, site.docker, folder), site.folders)
