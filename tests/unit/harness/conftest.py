"""A cluster that is written by hand, and what is expected of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.metrics import Sample
from lab.core.fleet import Fleet, Pool
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import GPU, NAMESPACE, Cluster, a_pod

T = TypeVar("T")
ExpectPod = Callable[..., PodExpectation]


#: What the API server says where a container has no `cat`.
NO_CAT = 'exec: "cat": executable file not found in $PATH'


@dataclass
class Inside:
    """What containers have printed, what their environment is, and what the server says instead.

    By the name of the pod; of one of several containers as `pod/container`.
    """

    printed: dict[str, str] = field(default_factory=dict)
    environment: dict[str, dict[str, str]] = field(default_factory=dict)
    refusals: dict[str, ApiFailed] = field(default_factory=dict)

    def refuse(self, of: str, status: int, words: str) -> None:
        """Let the server refuse what is asked of a pod, or of one of its containers."""
        self.refusals[of] = ApiFailed("the cluster's API server refused", seen=words, status=status)

    def logs(self, pod: Pod, *, container: str = "") -> str:
        """Return what a container has printed."""
        return self._of(self.printed, pod, container) or ""

    def execute(self, pod: Pod, command: object, *, container: str = "") -> tuple[int, str]:
        """Return the environment of a first process; a container without one has no `cat`."""
        del command
        found = self._of(self.environment, pod, container)
        if found is None:
            raise ApiFailed("the command did not run", seen=NO_CAT, status=500)
        return 0, "\0".join(f"{key}={value}" for key, value in found.items())

    def _of(self, known: dict[str, T], pod: Pod, container: str) -> T | None:
        """Return what is known of a container, or of all containers of its pod."""
        for name in (f"{pod.name}/{container}", pod.name):
            if name in self.refusals:
                raise self.refusals[name]
            if name in known:
                return known[name]
        return None


@pytest.fixture
def cluster() -> Cluster:
    """Return an empty cluster."""
    return Cluster()


@pytest.fixture
def inside() -> Inside:
    """Return containers that have printed nothing."""
    return Inside()


@pytest.fixture
def expect_pod(cluster: Cluster, inside: Inside, monkeypatch: pytest.MonkeyPatch) -> ExpectPod:
    """Return what makes a lab's expectation of a pod; by default of `p`."""
    numa = {f"GPU-{card}": card // 2 for card in range(4)}
    # What it says of its devices is asked of the node's plugin.
    monkeypatch.setattr(Lab, "_numa_nodes", lambda *_: numa)
    folder = SimpleNamespace(kubeconfig="/my lab/kubeconfig")
    running: Any = SimpleNamespace(client=inside, folder=folder)
    lab = Lab(running, Fleet.default(), NAMESPACE, cluster.view)
    return lambda name="p": lab.expect(a_pod(name))


@pytest.fixture
def journal() -> list[Call]:
    """Return the calls that the node's plugin has seen."""
    return []


@pytest.fixture
def scraped() -> list[Sample]:
    """Return the metrics of the node."""
    return []


@pytest.fixture
def expect_node(
    cluster: Cluster,
    journal: list[Call],
    scraped: list[Sample],
    monkeypatch: pytest.MonkeyPatch,
) -> NodeExpectation:
    """Return a lab's expectation of the node `w`, whose plugin and pods are in these lists."""

    def recorded(_: NodeHandle, call: str, resource: str = "") -> tuple[Call, ...]:
        return tuple(
            each for each in journal if each.call == call and resource in {"", each.resource}
        )

    monkeypatch.setattr(NodeHandle, "calls", recorded)
    monkeypatch.setattr(NodeHandle, "metrics", lambda _: scraped)
    monkeypatch.setattr(NodeHandle, "requested", lambda _, name: cluster.requested(name))
    folder, record = SimpleNamespace(kubeconfig="/my lab/kubeconfig"), SimpleNamespace(name="t")
    nothing_said = SimpleNamespace(get=lambda *_: {"items": []})
    client = SimpleNamespace(connection=nothing_said)
    running: Any = SimpleNamespace(folder=folder, record=record, client=client)
    fleet = Fleet((Pool("nvidia", 1, GPU, 8),)).placed_on(("w",))
    lab = Lab(running, fleet, NAMESPACE, cluster.view)
    return lab.expect(lab.nodes()[0])
