"""A cluster that a test writes by hand, and whose time passes only when somebody waits."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lab.cluster.informer import Changes, Informer
from lab.cluster.objects import Container, Event, Node, Pod
from lab.harness.view import View

if TYPE_CHECKING:
    from lab.cluster.connection import Connection

T = TypeVar("T")
GPU = "nvidia.com/gpu"
NAMESPACE = "ns"
NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


class Held(Informer[T]):
    """Objects that are put in by hand."""

    def __init__(self, changes: Changes) -> None:
        super().__init__(cast("Connection", None), "", cast("Any", None), changes)

    def put(self, found: T, name: str, namespace: str = "") -> None:
        """Let an object be, or be otherwise."""
        with self.changes.condition:
            self._objects[namespace, name] = found
            self._note(found, deleted=False)

    def remove(self, name: str, namespace: str = "") -> None:
        """Let an object be gone."""
        with self.changes.condition:
            self._note(self._objects.pop((namespace, name)), deleted=True)


@dataclass
class Turns:
    """A clock on which things happen while somebody waits, each at its second."""

    seconds: float = 0.0
    coming: list[tuple[float, Callable[[], None]]] = field(default_factory=list)

    def now(self) -> float:
        """Return how long was waited in all."""
        return self.seconds

    def moment(self) -> datetime:
        """Return noon, and what was waited since."""
        return NOON + timedelta(seconds=self.seconds)

    def at(self, seconds: float, happens: Callable[[], None]) -> None:
        """Let something happen at that second."""
        self.coming.append((seconds, happens))
        self.coming.sort(key=lambda each: each[0])

    def wait(self, changed: threading.Condition, seconds: float) -> None:
        """Let time pass, up to the next thing that happens."""
        del changed
        ends = self.seconds + seconds
        if self.coming and self.coming[0][0] <= ends:
            self.seconds, happens = self.coming.pop(0)
            happens()
        else:
            self.seconds = ends


class Cluster:
    """Pods, nodes and events, and the view that a lab has of them."""

    def __init__(self) -> None:
        self.clock = Turns()
        changes = Changes()
        self.nodes: Held[Node] = Held(changes)
        self.plugins: Held[Pod] = Held(changes)
        self.pods: Held[Pod] = Held(changes)
        self.events: Held[Event] = Held(changes)
        self.view = View(self.clock, changes, self.nodes, self.plugins, self.pods, self.events)

    def pod(self, name: str = "p", **facts: Any) -> None:  # noqa: ANN401 - any field of a Pod
        """Let a pod be so."""
        self.pods.put(replace(a_pod(name), **facts), name, NAMESPACE)

    def node(self, name: str = "w", **facts: Any) -> None:  # noqa: ANN401 - any field of a Node
        """Let a node be so."""
        self.nodes.put(replace(a_node(name), **facts), name)

    def requested(self, resource: str) -> int:
        """Return how many devices the pods of all nodes ask for."""
        return sum(each.requests.get(resource, 0) for each in self.pods.all())

    def event(self, reason: str, message: str, *, pod: str = "p", count: int = 1) -> None:
        """Let a component have said something of a pod, at noon."""
        source = "kubelet" if reason != "FailedScheduling" else "default-scheduler"
        said = Event("Pod", pod, "", "Warning", reason, message, source, count, NOON, NOON)
        self.events.put(said, f"{pod}.{reason}", NAMESPACE)


def a_pod(name: str) -> Pod:
    """Return a pod that nobody has done anything with."""
    return Pod(
        namespace=NAMESPACE,
        name=name,
        uid=f"uid-{name}",
        labels={"app": name},
        annotations={},
        node="",
        phase="Pending",
        reason="",
        message="",
        unscheduled="",
        terminating=False,
        created=NOON,
        images=("busybox:1.36",),
        requests={GPU: 1},
        limits={"main": {GPU: 1}},
        conditions={},
        containers=(),
        init_containers=(),
    )


def a_node(name: str) -> Node:
    """Return a node of eight devices."""
    amounts = {GPU: 8}
    return Node(
        name,
        ready=True,
        version="v1.36.3",
        labels={},
        taints=frozenset(),
        capacity=amounts,
        allocatable=amounts,
        heard=NOON,
    )


def running(name: str = "main", **facts: Any) -> Container:  # noqa: ANN401 - any field
    """Return a container that runs and is ready."""
    return Container(name, "running", id=f"containerd://{name}", ready=True, **facts)
