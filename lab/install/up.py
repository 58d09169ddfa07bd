"""`gpulab up`: from a machine with Docker to a node whose fake devices can be asked for.

    choose a node image ─┬─ create the cluster ──────────────────────────┬─ deploy ─ allocatable
                         └─ build the plugin image ─ load it into nodes ─┘

On a lab that is there, the last two steps are all there is.
"""

from lab.install.kind.standing import standing
from lab.install.lock import alone
from lab.install.order import Order
from lab.install.placing import place
from lab.install.site import Site


def bring_up(order: Order, site: Site) -> None:
    """Create the lab or bring it up to date, and wait for its devices."""
    with alone(site.folders, order.name), standing(order, site) as image:
        from lab.install.status import running_lab  # noqa: PLC0415 - loads the client library

        lab = running_lab(site, order.name)
        place(lab, order.fleet, site.progress, order.timeout, image=image)
