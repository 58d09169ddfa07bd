"""The backend `existing`: nodes of a cluster, and an image that is pulled or streamed into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lab.core.fleet import Fleet
from lab.core.progress import Progress
from lab.install.backend import Image, NoPlace
from lab.install.deployment import CONTROL_SECRET, DAEMON_SET_PATH, TOKEN_KEY
from lab.install.kind.backend import provide
from lab.install.site import Site

if TYPE_CHECKING:
    from lab.cluster.client import Client
    from lab.cluster.existing.access import ExistingAccess
    from lab.cluster.record import LabFolder, Record


@dataclass(frozen=True)
class ExistingBackend:
    """See `lab.install.backend.Backend`."""

    record: "Record"
    folder: "LabFolder"
    client: "Client"
    site: Site

    @cached_property
    def access(self) -> "ExistingAccess":
        """See `Backend.access`."""
        return access_of(self.client, self.folder)

    def placed(self, fleet: Fleet) -> Fleet:
        """See `Backend.placed`."""
        return placed_on(self.record.nodes, fleet)

    def provide_image(self, nodes: Sequence[str], progress: Progress) -> Image:
        """See `Backend.provide_image`."""
        if self.record.plugin_image:
            return Image(self.record.plugin_image, pulled=True)
        # Into all nodes of the lab: a pod that acts on a node starts from it too.
        every = tuple(dict.fromkeys((*nodes, *self.record.nodes)))
        return provide(every, self.site.processes, self.site.folders, progress)


def placed_on(nodes: Sequence[str], fleet: Fleet) -> Fleet:
    """Return a fleet on the nodes of a lab; raises `NoPlace` where it does not fit."""
    if fleet.workers() > len(nodes):
        raise NoPlace(
            f"the fleet needs {fleet.workers()} nodes, and the lab has {len(nodes)}",
            seen=f"nodes of the lab: {', '.join(nodes)}",
            remedy="name more nodes with --nodes, or lower pools[].nodes in the fleet",
        )
    return fleet.placed_on(nodes)


def access_of(client: "Client", folder: "LabFolder") -> "ExistingAccess":
    """Return the way to the nodes of a lab."""
    from lab.cluster.existing.access import ExistingAccess  # noqa: PLC0415 - loads the client
    from lab.cluster.existing.pod import Secret  # noqa: PLC0415 - beside it

    secret = Secret(CONTROL_SECRET, TOKEN_KEY)
    return ExistingAccess(client, DAEMON_SET_PATH, secret, folder.known_token())
