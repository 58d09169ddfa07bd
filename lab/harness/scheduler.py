"""How to know what the scheduler knows.

It watches the nodes for itself, and on a busy machine it hears of a change later than a test does:
a pod that the test then submits is placed by what was before. No component tells what the scheduler
has seen. But it sees the changes of a node in their order: whoever sees a label has seen all that
was so before the label was set.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from lab.harness.sight import MET, NotYet, Sight
from lab.harness.view import View
from lab.harness.workloads import pod

if TYPE_CHECKING:
    from lab.cluster.client import Client

_LABEL: Final = "gpu-lab/seen"
#: No node has so many processors: the pod never runs, and the scheduler says of a node that it
#: takes into account that these are what it lacks.
_PROCESSORS: Final = {"cpu": "1M"}
_LACKS: Final = "Insufficient cpu"


def wait_until_seen(client: "Client", view: View, namespace: str, node: str, within: float) -> None:
    """Wait until the scheduler has seen a node as it is now; raises `TimedOut`.

    Asks by a pod that can be placed on no node, of which only this one has the label that the pod
    wants.
    """
    mark = secrets.token_hex(4)
    probe = pod(
        f"probe-{mark}",
        requests=_PROCESSORS,
        nodeSelector={_LABEL: mark},
        tolerations=[{"operator": "Exists"}],
    )
    probe["metadata"]["namespace"] = namespace

    def look() -> Sight:
        found = view.pods.get(probe["metadata"]["name"], namespace)
        said = found.unscheduled if found else ""
        return MET if _LACKS in said else NotYet(said or "it has not looked at a pod yet")

    with _labelled(client, node, mark), _created(client, probe):
        view.require(
            look,
            within,
            "the scheduler did not see the node as it is",
            where=node,
            remedy="see whether the cluster's scheduler runs",
        )


@contextmanager
def _labelled(client: "Client", node: str, mark: str) -> Iterator[None]:
    client.label_node(node, {_LABEL: mark})
    try:
        yield
    finally:
        client.label_node(node, {_LABEL: None})


@contextmanager
def _created(client: "Client", manifest: dict[str, Any]) -> Iterator[None]:
    client.create(manifest)
    try:
        yield
    finally:
        client.delete(manifest)
