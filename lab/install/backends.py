"""The backend of a lab, as its record names it."""

from typing import TYPE_CHECKING

from lab.cluster.kind.cluster import KindCluster
from lab.cluster.record import LabFolder, Record
from lab.install.backend import Backend
from lab.install.existing.backend import ExistingBackend
from lab.install.kind.backend import KindBackend
from lab.install.site import Site

if TYPE_CHECKING:
    from lab.cluster.client import Client


def backend_of(record: Record, folder: LabFolder, client: "Client", site: Site) -> Backend:
    """Return what a lab asks of its cluster, beside the API."""
    if record.backend == "existing":
        return ExistingBackend(record, folder, client, site)
    return KindBackend(KindCluster(record.name, site.docker, folder), site.folders)
