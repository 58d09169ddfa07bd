"""How a lab was before a test, and what of it is not so any more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lab.cluster.objects import Node
from lab.harness.view import View


@dataclass(frozen=True)
class NodeState:
    """What of a node is the same before and after a test.

    Resources with 0 devices are left out: a kubelet keeps their names until the node is made anew,
    and for five minutes the capacity of those whose plugin has gone (endpointStopGracePeriod in
    Kubernetes, pkg/kubelet/cm/devicemanager/types.go). So `capacity` counts where both have some.
    """

    ready: bool
    labels: Mapping[str, str]
    taints: frozenset[tuple[str, str, str]]
    allocatable: Mapping[str, int]
    capacity: Mapping[str, int]

    @classmethod
    def of(cls, node: Node) -> "NodeState":
        """Return what is to be the same of a node."""
        some = {name: count for name, count in node.allocatable.items() if count}
        return cls(node.ready, node.labels, node.taints, some, node.capacity)

    def differences(self, now: "NodeState") -> Iterator[str]:
        """Yield in words what is not as it was."""
        for what in ("ready", "labels", "taints", "allocatable"):
            was, is_now = getattr(self, what), getattr(now, what)
            if was != is_now:
                yield f"{what} was {_told(was)}, and is {_told(is_now)}"
        for name in sorted(self.allocatable.keys() & now.allocatable.keys()):
            held, holds = self.capacity.get(name, 0), now.capacity.get(name, 0)
            if held != holds:
                yield f"capacity was {name}={held}, and is {name}={holds}"


@dataclass(frozen=True)
class Baseline:
    """The nodes of a lab, and which of them have a plugin that is ready."""

    nodes: Mapping[str, NodeState]
    served: frozenset[str]

    @classmethod
    def of(cls, view: View) -> "Baseline":
        """Return how the lab is now."""
        return cls(
            {node.name: NodeState.of(node) for node in view.nodes.all()},
            frozenset(pod.node for pod in view.plugins.all() if pod.ready and not pod.terminating),
        )

    def lost(self, view: View) -> Iterator[str]:
        """Yield the nodes that were ready, and whose kubelet does not report any more."""
        for node in view.nodes.all():
            if node.lost and node.name in self.nodes and self.nodes[node.name].ready:
                yield node.name

    def differences(self, now: "Baseline") -> Iterator[str]:
        """Yield in words what is not as it was."""
        for name, before in self.nodes.items():
            after = now.nodes.get(name)
            if after is None:
                yield f"{name}: the node is gone"
                continue
            yield from (f"{name}: {each}" for each in before.differences(after))
        for name in sorted(self.served - now.served):
            yield f"{name}: its device plugin is not ready"


def _told(value: object) -> str:
    match value:
        case frozenset():
            return (
                ", ".join(sorted(f"{key}={text}:{effect}" for key, text, effect in value)) or "none"
            )
        case Mapping():
            return ", ".join(f"{key}={each}" for key, each in sorted(value.items())) or "none"
        case _:
            return str(value)
