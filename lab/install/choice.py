"""Which backend a lab is on: the one it has already, the one that is asked for, or a guess."""

from lab.cluster.record import BackendName, Record
from lab.core.errors import UsageError
from lab.install.order import Order


def chosen_backend(order: Order, record: Record | None) -> BackendName:
    """Return the backend for an order; raises `UsageError` where it contradicts itself or the lab.

    Without one that is asked for: that of the lab that is there, else `existing` where a kubeconfig
    is given, else `kind`.
    """
    asked = None if order.backend == "auto" else order.backend
    if record and asked not in (None, record.backend):
        raise UsageError(
            f"{asked!r} is asked for, and the lab {order.name!r} is on the backend "
            f"{record.backend!r}",
            remedy="give the new lab another name, or remove this one first",
            commands=(f"gpulab down --name {order.name}",),
        )
    guess: BackendName = "existing" if order.kubeconfig else "kind"
    backend = record.backend if record else asked or guess
    order.refuse_options_of_others(backend)
    return backend
