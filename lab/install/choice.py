"""Which backend a lab is on: the one it has already, the one that is asked for, or a guess.

What is asked for is never left out in silence: what cannot be is refused, by the options' names.
"""

from lab.cluster.record import BackendName, Record
from lab.core.errors import UsageError
from lab.install.order import Order


def chosen_backend(order: Order, record: Record | None) -> BackendName:
    """Return the backend for an order; raises `UsageError` where it contradicts itself or the lab.

    Without one that is asked for: that of the lab that is there, else `existing` where a kubeconfig
    is given, else `kind`.
    """
    refuse_contradiction(order)
    if record:
        _refuse_another(order, record)
        return record.backend
    if order.kubeconfig:
        return "existing"
    if nowhere := order.asks_for("existing"):
        told = ", ".join(nowhere)
        raise UsageError(
            f"{told}: for a cluster that is there already, and nothing names its kubeconfig",
            remedy=f"name it with {order.call('kubeconfig')}, or leave out {told}",
        )
    return "kind"


def refuse_contradiction(order: Order) -> None:
    """Raise `UsageError` for what no lab could be at once, whichever is there."""
    of_kind, of_existing = order.asks_for("kind"), order.asks_for("existing")
    if of_kind and of_existing:
        raise UsageError(
            f"{', '.join(of_kind)}: for a cluster of kind, and {', '.join(of_existing)} for one "
            "that is there already",
            remedy="leave out the one or the other",
        )


def refuse_making(order: Order, up: str, remedy: str) -> None:
    """Raise `UsageError` for what is asked of a lab that is to be made; `up` says that one is."""
    if given := (*order.made_of("kind"), *order.made_of("existing")):
        raise UsageError(
            f"{', '.join(given)}: for a lab that is made for the run, and {up}", remedy=remedy
        )


def _refuse_another(order: Order, record: Record) -> None:
    others = order.asks_for("kind" if record.backend == "existing" else "existing")
    if others:
        raise UsageError(
            f"{', '.join(others)}: the lab {record.name!r} is on the backend {record.backend!r}",
            remedy="leave it out, or name another lab, or remove this one first",
            commands=(f"gpulab down --name {record.name}",),
        )
