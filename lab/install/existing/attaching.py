"""Takes a cluster that is there for a lab, after everything that could be in the way was looked at.

Nothing is changed in the cluster here; the lab's own files are written when all is well.
"""

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lab.cluster.existing.kubeconfig import Context, read_context
from lab.cluster.existing.nodes import are_containers, chosen_nodes
from lab.cluster.existing.rights import require_rights
from lab.cluster.record import LabFolder, Record
from lab.core.errors import NotReady, UsageError
from lab.install.backend import Image
from lab.install.deployment import CONTROL_SECRET, Manifest, objects
from lab.install.existing.backend import placed_on
from lab.install.existing.occupant import occupant
from lab.install.existing.removal import detach
from lab.install.order import Order
from lab.install.rollout import NAMESPACE
from lab.install.site import Site

if TYPE_CHECKING:
    from lab.cluster.client import Client

_PRIVATE: Final = 0o600


@contextmanager
def attached(order: Order, site: Site) -> Iterator[Image | None]:
    """Take the cluster of an order for the block; where that is in vain, it is left again.

    Yields no image: that is seen to when the fleet is placed. Raises `UsageError` and `NotReady`
    where something is in the way; nothing has changed then.
    """
    folder = LabFolder.of(site.folders, order.name)
    record = folder.read()
    source = order.kubeconfig or folder.kubeconfig
    context = read_context(source, order.context)
    site.progress.note(
        f"backend existing: {_why(order, record)}; context {context.name!r} of {source}"
    )
    with _connected(context, source, order.name) as client:
        fresh = _examined(order, record, folder, client, site)
    folder.write(fresh)
    folder.write_text(folder.kubeconfig, context.text)
    with _left_where_in_vain(folder, site, new=record is None):
        yield None


def _why(order: Order, record: Record | None) -> str:
    if record:
        return f"the lab {order.name!r} is there"
    return "as asked for" if order.backend == "existing" else "--kubeconfig is given"


@contextmanager
def _connected(context: Context, source: Path, lab: str) -> Iterator["Client"]:
    """Connect for the block; a server that cannot be asked is told of as the user named it."""
    from lab.cluster.client import connect  # noqa: PLC0415 - loads the client library
    from lab.cluster.connection import ApiFailed  # noqa: PLC0415 - beside it

    with tempfile.TemporaryDirectory(prefix="gpulab-") as folder:
        file = Path(folder, "kubeconfig")
        file.touch(_PRIVATE)
        file.write_text(context.text, encoding="utf-8")
        try:
            yield connect(file, lab, "existing")
        except ApiFailed as error:
            flags = f"--kubeconfig {shlex.quote(str(source))} --context {shlex.quote(context.name)}"
            raise ApiFailed(
                error.what,
                where=f"context {context.name!r} of {source}",
                seen=error.seen,
                remedy="see whether kubectl gets an answer with it; nothing was changed",
                commands=(f"kubectl {flags} get nodes",),
                status=error.status,
            ) from error


def _examined(
    order: Order, record: Record | None, folder: LabFolder, client: "Client", site: Site
) -> Record:
    """Look at all that could be in the way, and return what is to be remembered of the cluster."""
    require_rights(client)
    cluster = str(client.connection.get(f"/api/v1/namespaces/{NAMESPACE}")["metadata"]["uid"])
    if record and record.cluster != cluster:
        raise UsageError(
            f"the lab {order.name!r} is on another cluster than that of this kubeconfig",
            where=str(order.kubeconfig),
            remedy="give the new lab another name, or remove this one first; nothing was changed",
            commands=(f"gpulab down --name {order.name}",),
        )
    _refuse_another_lab(client, folder.known_token())
    nodes = chosen_nodes(client.nodes(), order.nodes or (record.nodes if record else ()))
    placed_on(nodes, order.fleet)
    image = order.plugin_image or (record.plugin_image if record else "")
    if not image and not are_containers(client, nodes, site.docker):
        raise UsageError(
            "the plugin's image has to be pulled by the nodes: not all of them are containers of "
            "kind in this machine's Docker engine",
            where=", ".join(nodes),
            remedy="push the image to a registry that they can pull from, and name it with "
            "--plugin-image; nothing was changed",
        )
    return Record(order.name, "existing", "ready", nodes=nodes, plugin_image=image, cluster=cluster)


def _refuse_another_lab(client: "Client", token: str) -> None:
    """Refuse a cluster whose plugins take another token than this lab's: another lab is there."""
    found = occupant(client)
    if found and found.token != token:
        raise NotReady(
            "another lab is on this cluster: there can be one only",
            where=f"Secret {NAMESPACE}/{CONTROL_SECRET}",
            seen=f"it is there since {found.since}",
            remedy="take that lab down where it was brought up; if nobody has it any more, remove "
            "what is left of it",
            commands=(f"kubectl -n {NAMESPACE} delete {' '.join(map(_named, objects()))}",),
        )


def _named(manifest: Manifest) -> str:
    return f"{manifest['kind'].lower()}/{manifest['metadata']['name']}"


@contextmanager
def _left_where_in_vain(folder: LabFolder, site: Site, *, new: bool) -> Iterator[None]:
    """Leave the cluster where a new lab is interrupted, or refused before it was deployed."""
    try:
        yield
    except BaseException as error:
        if new and not folder.fleet.exists():
            folder.remove()
        elif new and isinstance(error, KeyboardInterrupt):
            with site.progress.step("Removing what was put into the cluster"):
                detach(folder, site.progress)
        raise
