"""What the options, and a kubeconfig that a fixture hands over, order: one order for all labs.

What cannot be is refused: as pytest starts where the options alone say so, else when it is known
which kubeconfig there is.
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lab.cluster.record import Record
from lab.core.deadlines import DEVICES_SECONDS
from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.install.choice import chosen_backend, refuse_contradiction, refuse_making
from lab.install.order import Order

if TYPE_CHECKING:
    from lab.harness.pytest_plugin.options import Settings

_FIXTURE: Final = "the fixture lab_kubeconfig"
_LEAVE_OUT: Final = "leave out the one or the other"


def order_of(settings: "Settings", workers: int = 0) -> Order:
    """Return what the options order, before a fixture has its say.

    A cluster of kind that is made has so many workers. Raises `UsageError` for options that
    contradict each other.
    """
    order = Order(
        settings.use or "",
        Fleet.default(),
        kind_config=None,
        node_image=settings.node_image,
        timeout=DEVICES_SECONDS,
        backend=settings.backend,
        workers=workers,
        kubeconfig=settings.kubeconfig,
        context=settings.context,
        nodes=settings.nodes,
        plugin_image=settings.plugin_image,
        called=settings.called,
    )
    refuse_contradiction(order)
    _refuse_making(order)
    _refuse_several(order, settings.clusters)
    return order


def require_backend(settings: "Settings", record: Record) -> None:
    """Raise `UsageError` where the lab that is used is on another backend than is asked for."""
    try:
        chosen_backend(order_of(settings), record)
    except UsageError as error:
        raise UsageError(error.what, remedy=_LEAVE_OUT) from error


def handed_over(order: Order, kubeconfig: Path | None) -> Order:
    """Return the order with the kubeconfig that the fixture has returned.

    Raises `UsageError` where options name another cluster.
    """
    if not kubeconfig and not order.kubeconfig:
        return _called(order, f"{order.call('kubeconfig')} or {_FIXTURE}")
    if _is_same(order.kubeconfig, kubeconfig):
        return order
    if order.kubeconfig:
        option, told = order.call("kubeconfig"), "another" if kubeconfig else "none"
        raise UsageError(
            f"{option} names a cluster, and {_FIXTURE} hands over {told}",
            seen=f"{option}: {order.kubeconfig}\nthe fixture: {kubeconfig or 'None'}",
            remedy="leave out the option, or let the fixture return what it names, which is the "
            "value of the fixture of the same name that it overrides",
        )
    found = replace(_called(order, _FIXTURE), kubeconfig=kubeconfig)
    _refuse_making(found)
    return found


def _refuse_making(order: Order) -> None:
    if order.name:
        used = f"{order.call('use')} {order.name} names one that is up already"
        refuse_making(order, used, _LEAVE_OUT)


def _refuse_several(order: Order, clusters: int) -> None:
    one = (f"{order.call('use')} {order.name}",) if order.name else order.asks_for("existing")
    if one and clusters > 1:
        raise UsageError(
            f"{order.call('clusters')} {clusters}: for clusters that are made for the run, and "
            f"{', '.join(one)} for one that is there already",
            remedy=_LEAVE_OUT,
        )


def _called(order: Order, kubeconfig: str) -> Order:
    return replace(order, called={**order.called, "kubeconfig": kubeconfig})


def _is_same(one: Path | None, other: Path | None) -> bool:
    return one == other or bool(one and other and one.resolve() == other.resolve())
