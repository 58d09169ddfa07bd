"""A cluster that is written by hand, and what is expected of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

import pytest

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.metrics import Sample
from lab.harness.expectations.expecting import Expecting
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from tests.unit.harness.cluster import GPU, NAMESPACE, Cluster

if TYPE_CHECKING:
    from lab.cluster.client import Client

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
