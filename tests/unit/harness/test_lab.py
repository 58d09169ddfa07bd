"""What a test puts on a lab beside its pods, and that it has gone when the test is over."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.connection import ApiFailed, Json
from lab.core.fleet import Fleet
from lab.harness.failure import ExpectationFailed
from lab.harness.guests import Host
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import NAMESPACE, NOON, Cluster
from tests.unit.harness.kinds import KINDS

if TYPE_CHECKING:
    from lab.install.status import RunningLab

FIRST = Fleet.default().placed_on(("w",))
OWN = "fake.example.com/device"


def of_count(count: int) -> Fleet:
    """Return the fleet with so many devices on its node."""
    return replace(FIRST, pools=(replace(FIRST.pools[0], count=count),))


@pytest.fixture
def done() -> list[str]:
    """Return what is done to the lab, in words."""
    return []


@pytest.fixture
def lab(cluster: Cluster, done: list[str], monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Return a lab of one node that takes note of what is done to it."""

    def create(manifest: Json) -> None:
        done.append(f"create {manifest['metadata']['name']}")

    def delete(manifest: Json) -> None:
        done.append(f"delete {manifest['metadata']['name']}")

    def place(_: object, fleet: Fleet, __: object) -> Fleet:
        done.append(f"place {fleet.pools[0].count}")
        return fleet

    monkeypatch.setattr("lab.harness.lab.place", place)
    monkeypatch.setattr(NodeHandle, "host", Host("w", "/plugins", "plugin:1"))
    monkeypatch.setattr(NodeHandle, "restart_plugin", lambda _: done.append("restart"))
    running: Any = SimpleNamespace(
        client=SimpleNamespace(create=create, delete=delete, kinds=KINDS),
        folder=SimpleNamespace(kubeconfig="kubeconfig"),
        record=SimpleNamespace(name="t"),
    )
    cluster.node()
    return Lab(cast("RunningLab", running), FIRST, NAMESPACE, cluster.view)


def test_the_fleet_of_before_is_back_afterwards(lab: Lab, done: list[str]) -> None:
    """However many others there were."""
    with lab.afterwards:
        lab.place(of_count(5))
        lab.place(of_count(6))
        assert lab.fleet == of_count(6)
    assert done == ["place 5", "place 6", "place 2"]
    assert lab.fleet == FIRST


@pytest.mark.parametrize(("resource", "after"), [("other.com/device", []), (OWN, ["restart"])])
def test_a_guest_has_gone_afterwards(
    lab: Lab, done: list[str], resource: str, after: list[str]
) -> None:
    """The lab's own plugin registers anew where a guest had taken its resource over."""
    with lab.afterwards:
        lab.bring_plugin(lab.node(), "guest", resource)
        assert done == ["create guest"]
    assert done == ["create guest", "delete guest", *after]


@pytest.mark.parametrize(("resource", "after"), [("other.com/device", []), (OWN, ["restart"])])
def test_a_guest_of_which_the_server_has_not_answered_has_gone_afterwards(
    lab: Lab,
    done: list[str],
    monkeypatch: pytest.MonkeyPatch,
    resource: str,
    after: list[str],
) -> None:
    """It may be there all the same, and has taken the resource over."""

    def create(manifest: Json) -> None:
        done.append(f"create {manifest['metadata']['name']}")
        raise ApiFailed("the API server does not answer")

    monkeypatch.setattr(lab.running.client, "create", create)
    with pytest.raises(ApiFailed), lab.afterwards:
        lab.bring_plugin(lab.node(), "guest", resource)
    assert done == ["create guest", "delete guest", *after]


@pytest.mark.parametrize(("resource", "rivals"), [("other.com/device", set()), (OWN, {OWN})])
def test_a_node_knows_which_resources_have_a_rival(
    lab: Lab, resource: str, rivals: set[str]
) -> None:
    """A handle that was there before the guest, too; the kubelet may not go by the lab's plugin."""
    before = lab.node()
    lab.bring_plugin(lab.node(), "guest", resource)
    assert before.rivals == lab.node().rivals == rivals


def said(second: int, reason: str) -> Json:
    """Return what a kubelet has said of the node `w`, so many seconds after noon."""
    at = (NOON + timedelta(seconds=second)).isoformat()
    about = {"kind": "Node", "name": "w"}
    return {"involvedObject": about, "reason": reason, "firstTimestamp": at}


class Events:
    """What the API server has of events, or that it does not answer."""

    def __init__(self, *items: Json) -> None:
        self.items = items

    def get(self, path: str, query: object) -> Json:
        """Return those of the node."""
        assert path == "/api/v1/namespaces/default/events"
        assert query == (("fieldSelector", "involvedObject.kind=Node,involvedObject.name=w"),)
        if not self.items:
            raise ApiFailed("the API server does not answer")
        return {"items": [*self.items]}


@pytest.mark.parametrize(
    ("events", "told"),
    [
        (
            (said(7, "NodeNotReady"), said(-60, "Starting"), said(0, "NodeReady")),
            ["NodeReady", "NodeNotReady"],
        ),
        ((), []),
    ],
)
def test_a_nodes_failure_tells_what_was_said_of_it_since_the_test_began(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, events: tuple[Json, ...], told: list[str]
) -> None:
    """In order; a server that does not answer then is no reason to tell nothing else."""
    monkeypatch.setattr(lab.running.client, "connection", Events(*events), raising=False)
    with pytest.raises(ExpectationFailed) as raised:
        lab.expect(lab.node()).capacity(9, within=1)
    assert [each.reason for each in raised.value.events] == told
