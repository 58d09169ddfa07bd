"""What a test does to a node's taints and labels, and what its pods ask for."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.objects import Pod
from lab.harness.afterwards import Afterwards
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import GPU, Cluster

if TYPE_CHECKING:
    from lab.install.status import RunningLab

KEPT = ("nvidia.com/gpu", "present", "NoSchedule")
Change = tuple[str, str, str | None, str]


@dataclass
class Server:
    """Notes what is done to taints, and knows the cluster's pods."""

    cluster: Cluster
    changes: list[Change] = field(default_factory=list)
    labels: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def taint_node(self, name: str, key: str, value: str | None, effect: str) -> None:
        """Note it."""
        self.changes.append((name, key, value, effect))

    def label_node(self, name: str, labels: dict[str, str | None]) -> None:
        """Note it."""
        self.labels.append((name, labels))

    def pods(self) -> tuple[Pod, ...]:
        """Return the pods of all nodes."""
        return self.cluster.pods.all()


@pytest.fixture
def server(cluster: Cluster) -> Server:
    """Return a server whose node has a taint."""
    cluster.node(taints=frozenset({KEPT}))
    return Server(cluster)


@pytest.fixture
def node(cluster: Cluster, server: Server) -> NodeHandle:
    """Return that node."""
    running: Any = SimpleNamespace(client=server)
    return NodeHandle(cast("RunningLab", running), cluster.view, Afterwards(), "w", ())


def test_a_taint_that_was_removed_is_back_afterwards(node: NodeHandle, server: Server) -> None:
    """With the value that it had."""
    with node.afterwards:
        node.untaint("nvidia.com/gpu")
        assert server.changes == [("w", "nvidia.com/gpu", None, "NoSchedule")]
    assert server.changes[1:] == [("w", *KEPT)]


def test_a_taint_that_was_set_is_gone_afterwards(node: NodeHandle, server: Server) -> None:
    """However often it was set and removed."""
    with node.afterwards:
        node.taint("mine", "a", "NoExecute")
        node.untaint("mine", "NoExecute")
        node.taint("mine", "b", "NoExecute")
    values = [value for *_, value, _ in server.changes]
    assert values == ["a", None, "b", None]


@pytest.mark.parametrize("before", [None, "theirs"])
def test_a_label_is_afterwards_as_it_was(
    node: NodeHandle, server: Server, before: str | None
) -> None:
    """Gone, or of the value that it had, however often it was set."""
    server.cluster.node(labels={"key": before} if before else {})
    with node.afterwards:
        node.label("key", "a")
        node.label("key", "b")
    assert server.labels == [("w", {"key": each}) for each in ("a", "b", before)]


def test_pods_that_have_ended_ask_for_nothing(node: NodeHandle, cluster: Cluster) -> None:
    """Nor do those of other nodes; those of other namespaces do."""
    cluster.pod("mine", node="w", requests={GPU: 2})
    cluster.pod("theirs", node="w", namespace="other", phase="Running", requests={GPU: 1})
    cluster.pod("ended", node="w", phase="Succeeded", requests={GPU: 4})
    cluster.pod("elsewhere", node="v", requests={GPU: 8})
    assert node.requested(GPU) == 3
