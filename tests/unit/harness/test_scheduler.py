"""How a test knows that the scheduler has seen what it has seen itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.core.errors import TimedOut
from lab.core.fleet import Fleet
from lab.harness.lab import Lab
from tests.unit.harness.cluster import NAMESPACE, Cluster

if TYPE_CHECKING:
    from lab.cluster.connection import Json
    from lab.install.status import RunningLab

UNSEEN = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector."
SEEN = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity."


@dataclass
class Server:
    """Takes what is created, and says of a pod what the scheduler says by and by."""

    cluster: Cluster
    sees_at: float
    labels: dict[str, str] = field(default_factory=dict)
    probes: list[Any] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)

    def label_node(self, name: str, labels: Mapping[str, str | None]) -> None:
        """Set and remove labels of a node."""
        assert name == "w"
        for key, value in labels.items():
            self.labels.pop(key, None)
            if value is not None:
                self.labels[key] = value

    def create(self, manifest: "Json") -> None:
        """Take a pod, which the scheduler looks at twice."""
        assert manifest["spec"]["nodeSelector"] == self.labels
        name = manifest["metadata"]["name"]
        self.probes.append(manifest)
        self.cluster.clock.at(0.1, lambda: self.cluster.pod(name, unscheduled=UNSEEN))
        self.cluster.clock.at(self.sees_at, lambda: self.cluster.pod(name, unscheduled=SEEN))

    def delete(self, manifest: "Json") -> None:
        """Let a pod go."""
        self.deleted.append(manifest["metadata"]["name"])


def lab_of(server: Server) -> Lab:
    """Return a lab with one node."""
    running = cast("RunningLab", SimpleNamespace(client=server))
    return Lab(running, Fleet.default().placed_on(("w",)), NAMESPACE, server.cluster.view)


def test_the_scheduler_has_seen_a_node_when_it_lacks_something_there(cluster: Cluster) -> None:
    """As long as the label is new to it, no node is the one that the probe wants."""
    server = Server(cluster, sees_at=1.5)
    lab = lab_of(server)
    lab.wait_for_scheduler(lab.node())
    assert cluster.clock.now() == 1.5
    (probe,) = server.probes
    assert probe["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1M"}}
    assert probe["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert (server.deleted, server.labels) == ([probe["metadata"]["name"]], {})


def test_a_scheduler_that_does_not_see_it_is_told(cluster: Cluster) -> None:
    """With what it said last; nothing is left behind."""
    server = Server(cluster, sees_at=99)
    lab = lab_of(server)
    with pytest.raises(TimedOut, match="did not see the node as it is within 30 s") as raised:
        lab.wait_for_scheduler(lab.node())
    assert raised.value.seen == UNSEEN
    assert (len(server.deleted), server.labels) == (1, {})
