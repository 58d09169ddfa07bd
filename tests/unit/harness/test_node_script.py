"""Devices that break and mend by the clock while a test goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from lab.cluster.plugin.health import Scripted
from lab.harness.afterwards import Afterwards
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import Cluster

if TYPE_CHECKING:
    from lab.core.fleet import FleetNode
    from lab.install.status import RunningLab

STEPS = [{"at": "2s", "device": 0, "becomes": "unhealthy"}]


@dataclass
class Told:
    """Notes what the plugin is told."""

    said: list[object] = field(default_factory=list)

    def script(self, steps: Sequence[Mapping[str, object]]) -> Scripted:
        """Note it."""
        self.said.append(list(steps))
        return Scripted(len(steps))

    def clear(self) -> None:
        """Note it."""
        self.said.append("clear")

    def facts(self) -> Any:  # noqa: ANN401 - as much of Facts as is asked for
        """Return a node without resources."""
        return SimpleNamespace(resources=())

    def open_calls(self) -> tuple[()]:
        """Return that no call is open."""
        return ()


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Return the plugin of every node."""
    told = Told()
    monkeypatch.setattr(NodeHandle, "_plugin", told)
    return told


def node(cluster: Cluster, *names: str) -> NodeHandle:
    """Return a node with these names in the fleet."""
    members = tuple(cast("FleetNode", SimpleNamespace(name=name)) for name in names)
    return NodeHandle(cast("RunningLab", None), cluster.view, Afterwards(), "w", members)


def test_a_script_is_cleared_afterwards(cluster: Cluster, plugin: Told) -> None:
    """With what it has broken; steps are about the node that plays them."""
    with (handle := node(cluster, "nvidia-0")).afterwards:
        assert handle.script(STEPS).steps == 1
        assert plugin.said == [[{"node": "nvidia-0", **STEPS[0]}]]
    assert plugin.said[1:] == ["clear"]


@pytest.mark.parametrize("names", [("a-0",), ("a-0", "b-0")])
def test_a_node_that_a_step_names_is_left(
    cluster: Cluster, plugin: Told, names: tuple[str, ...]
) -> None:
    """Where a node has several names, one has to be said; the plugin says so."""
    node(cluster, *names).script([*STEPS, STEPS[0] | {"node": "b-0"}])
    (steps,) = plugin.said
    assert [each.get("node") for each in cast("list[dict[str, str]]", steps)] == [
        "a-0" if len(names) == 1 else None,
        "b-0",
    ]
