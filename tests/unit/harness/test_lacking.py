"""What a lab lacks that a test needs."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from lab.cluster.objects import Node
from lab.harness.lacking import lacking
from tests.unit.harness.cluster import Cluster

if TYPE_CHECKING:
    from lab.install.status import RunningLab

ROLE = "node-role.kubernetes.io/control-plane"
NONE = "no node of the cluster is a control plane with its usual taint"


def lab(*nodes: Node, can: frozenset[str] = frozenset({"run"})) -> "RunningLab":
    """Return a lab of these nodes, to which this can be done."""
    found = SimpleNamespace(
        access=SimpleNamespace(can=can),
        record=SimpleNamespace(backend="existing"),
        client=SimpleNamespace(nodes=lambda: nodes),
    )
    return cast("RunningLab", found)


def a_node(cluster: Cluster, *labels: str, taint: tuple[str, str] | None = None) -> Node:
    """Return a node with these labels and this taint, by its key and effect."""
    taints = {(taint[0], "", taint[1])} if taint else set()
    cluster.node(labels=dict.fromkeys(labels, ""), taints=frozenset(taints))
    (found,) = cluster.nodes.all()
    return found


def test_what_cannot_be_done_is_named() -> None:
    """All of it, and what can be done is not."""
    needs = {"run", "restart", "lose_checkpoint"}
    assert lacking(lab(), needs) == "the backend existing cannot lose_checkpoint, restart here"
    assert lacking(lab(), {"run"}) == ""


def test_nothing_is_asked_of_a_cluster_without_need() -> None:
    """A lab of no node serves a test that needs none."""
    assert lacking(lab(), frozenset()) == ""


@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_a_control_plane_with_its_taint_is_found(cluster: Cluster, effect: str) -> None:
    """Beside what has to be possible."""
    tainted = a_node(cluster, ROLE, taint=(ROLE, effect))
    assert lacking(lab(tainted), {"tainted_control_plane", "run"}) == ""


@pytest.mark.parametrize(
    ("labels", "taint"),
    [
        ((), None),
        ((ROLE,), None),
        ((ROLE,), ("example.com/mine", "NoSchedule")),
        ((ROLE,), (ROLE, "PreferNoSchedule")),
        ((), (ROLE, "NoSchedule")),
    ],
    ids=["a worker", "untainted", "another taint", "a preference", "no control plane"],
)
def test_what_is_no_tainted_control_plane_is_reason_to_skip(
    cluster: Cluster, labels: tuple[str, ...], taint: tuple[str, str] | None
) -> None:
    """As where the control plane is no node of the cluster, and where it takes pods."""
    assert lacking(lab(a_node(cluster, *labels, taint=taint)), {"tainted_control_plane"}) == NONE
