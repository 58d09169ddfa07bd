"""A cluster that is written by hand, and what is expected of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import pytest

from lab.cluster.objects import Pod
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.metrics import Sample
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from tests.unit.harness.cluster import GPU, NAMESPACE, Cluster

if TYPE_CHECKING:
    from lab.cluster.client import Client

ExpectPod = Callable[..., PodExpectation]


@dataclass
class Inside:
    """What containers have printed, and what their environment is.

    By the name of the pod; the environment of one of several containers as `pod/container`.
    """

    printed: dict[str, str] = field(default_factory=dict)
    environment: dict[str, dict[str, str]] = field(default_factory=dict)

    def logs(self, pod: Pod, **_: object) -> str:
        """Return what a pod has printed."""
        return self.printed.get(pod.name, "")

    def execute(self, pod: Pod, command: object, *, container: str = "") -> tuple[int, str]:
        """Return the environment of a first process; a pod without one has no `cat`."""
        del command
        of_container = self.environment.get(f"{pod.name}/{container}")
        found = of_container or self.environment.get(pod.name)
        if found is None:
            return 127, "cat: not found"
        return 0, "\0".join(f"{key}={value}" for key, value in found.items())


@pytest.fixture
def cluster() -> Cluster:
    """Return an empty cluster."""
    return Cluster()


@pytest.fixture
def inside() -> Inside:
    """Return containers that have printed nothing."""
    return Inside()


@pytest.fixture
def expect_pod(cluster: Cluster, inside: Inside) -> ExpectPod:
    """Return what makes an expectation of a pod; by default of `p`."""

    def expect(name: str = "p") -> PodExpectation:
        def about() -> tuple[object, ...]:
            return tuple(each for each in cluster.events.all() if each.name == name)

        commands = (f"kubectl describe pod {name} --namespace {NAMESPACE}",)
        expecting = Expecting(cluster.view, f"pod {name}", about, commands)  # type: ignore[arg-type]
        numa = {f"GPU-{card}": card // 2 for card in range(4)}
        return PodExpectation(expecting, cast("Client", inside), NAMESPACE, name, lambda _: numa)

    return expect


@pytest.fixture
def journal() -> list[Call]:
    """Return the calls that the node's plugin has seen."""
    return []


@pytest.fixture
def scraped() -> list[Sample]:
    """Return the metrics of the node."""
    return []


@pytest.fixture
def expect_node(cluster: Cluster, journal: list[Call], scraped: list[Sample]) -> NodeExpectation:
    """Return an expectation of the node `w`."""

    def recorded(call: str, resource: str) -> list[Call]:
        return [each for each in journal if each.call == call and resource in {"", each.resource}]

    expecting = Expecting(cluster.view, "node nvidia-0 (w)", tuple, ("kubectl describe node w",))
    return NodeExpectation(
        expecting, "w", lambda: GPU, recorded, cluster.requested, lambda: scraped
    )
