"""`gpulab up`: from a machine with Docker to a node whose fake devices can be asked for.

    choose a node image ─┬─ create the cluster ──────────────────────────┬─ deploy ─ allocatable
                         └─ build the plugin image ─ load it into nodes ─┘

On a cluster that is there, be it a lab's or a user's own, the last two steps are all there is.
"""

from typing import Final

from lab.cluster.record import LabFolder
from lab.install.choice import chosen_backend
from lab.install.existing.attaching import attached
from lab.install.kind.standing import standing
from lab.install.lock import alone_at
from lab.install.order import Order
from lab.install.placing import place
from lab.install.site import Site

_CLUSTERS: Final = {"existing": attached, "kind": standing}


def bring_up(order: Order, site: Site) -> None:
    """Create the lab or bring it up to date, and wait for its devices."""
    with alone_at(site, order.name):
        record = LabFolder.of(site.folders, order.name).read()
        backend = chosen_backend(order, record)
        with _CLUSTERS[backend](order, site) as image:
            from lab.install.status import running_lab  # noqa: PLC0415 - loads the client library

            lab = running_lab(site, order.name)
            place(lab, order.fleet, site.progress, order.timeout, image=image)
