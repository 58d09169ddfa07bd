"""What is done to a node's devices is done when the node shows it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from fake_plugin.faults.fault import Call as Method
from lab.cluster.plugin.cards import CardsAdded, CardsMoved
from lab.cluster.plugin.health import HealthChanged
from lab.cluster.plugin.journal import Call
from lab.cluster.plugin.overview import Device, Facts, Flap, Resource
from lab.core.errors import CheckFailed, TimedOut
from lab.harness.afterwards import Afterwards
from lab.harness.node import NodeHandle
from tests.unit.harness.cluster import GPU, NOON, Cluster

if TYPE_CHECKING:
    from lab.core.fleet import FleetNode
    from lab.install.status import RunningLab

CHANGED = HealthChanged(1, ("GPU-1",), "unhealthy", None, ignored=False, sticky=False)
MOVED = CardsMoved(1, ("GPU-1",))
Action = Callable[[NodeHandle], object]
ACTIONS: dict[str, Action] = {
    "break": lambda node: node.break_device("0"),
    "mend": lambda node: node.mend("0"),
    "unplug": lambda node: node.unplug("0"),
    "plug": lambda node: node.plug("0"),
    "add": lambda node: node.add("nvidia", 1),
}


def a_device(number: int) -> Device:
    """Return a card that is whole."""
    name = f"GPU-{number}"
    return Device(name, name, name, number, "nvidia", True, None, 0, None, None, None)  # noqa: FBT003


def a_resource(healthy: int, count: int = 8, name: str = GPU) -> Resource:
    """Return a resource that the kubelet watches."""
    return Resource(name, "nvidia", True, count, healthy, (a_device(0), a_device(1)))  # noqa: FBT003


@dataclass
class Plugin:
    """A plugin that announces, whatever it is asked to do, what is written here."""

    facts_now: Facts = field(
        default_factory=lambda: Facts("recovers", True, (), {}, (), (), (a_resource(7),))  # noqa: FBT003
    )
    calls: tuple[Call, ...] = ()

    def facts(self) -> Facts:
        """Return it."""
        return self.facts_now

    def open_calls(self) -> tuple[Call, ...]:
        """Return the open calls."""
        return self.calls

    def announces(self, *resources: Resource, flaps: tuple[Flap, ...] = ()) -> None:
        """Announce this from now on."""
        self.facts_now = replace(self.facts_now, resources=resources, flaps=flaps)

    def break_device(self, *_: str, **__: object) -> HealthChanged:
        """Say that it is done."""
        return CHANGED

    def unplug(self, *_: str) -> CardsMoved:
        """Say that it is done."""
        return MOVED

    def add(self, pool: str, count: int) -> CardsAdded:
        """Say that it is done."""
        return CardsAdded(count, pool)

    def clear(self) -> None:
        """Mend all."""

    mend = break_device
    plug = unplug


@pytest.fixture
def plugin() -> Plugin:
    """Return a plugin that announces 7 healthy devices of 8."""
    return Plugin()


@pytest.fixture
def node(cluster: Cluster, plugin: Plugin, monkeypatch: pytest.MonkeyPatch) -> NodeHandle:
    """Return the handle of `w`, which still shows 8 devices."""
    monkeypatch.setattr(NodeHandle, "_plugin", plugin)
    cluster.node()
    running: Any = SimpleNamespace(record=SimpleNamespace(name="gpu-lab"))
    members = (cast("FleetNode", SimpleNamespace(name="nvidia-0")),)
    return NodeHandle(cast("RunningLab", running), cluster.view, Afterwards(), "w", members)


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_ends_when_the_node_shows_what_the_plugin_announced(
    cluster: Cluster, node: NodeHandle, name: str
) -> None:
    """Capacity and allocatable: one of both is what it was before."""
    cluster.clock.at(2, lambda: cluster.node(capacity={GPU: 7}, allocatable={GPU: 7}))
    cluster.clock.at(3, lambda: cluster.node(capacity={GPU: 8}, allocatable={GPU: 7}))
    answers = [CHANGED, MOVED, CardsAdded(1, "nvidia")]
    assert ACTIONS[name](node) in answers
    assert cluster.clock.now() == 3


def test_what_does_not_come_is_told(node: NodeHandle, plugin: Plugin) -> None:
    """What was announced, what the node shows, of those that differ, and where to look."""
    plugin.announces(a_resource(7), a_resource(0, 0, "amd.com/gpu"))
    with pytest.raises(TimedOut) as raised:
        node.break_device("0", within=5)
    assert str(raised.value) == (
        "the node did not show what its plugin has announced within 5 s\n"
        "  where: nvidia-0 (w)\n"
        "  seen:  nvidia.com/gpu: announced are 7 healthy of 8, the node shows 8 allocatable of 8\n"
        "  next:  what was asked of the devices is done; see what the kubelet was told, and whether"
        " it reports\n"
        "         $ gpulab journal --node w --name gpu-lab\n"
        "         $ gpulab status --name gpu-lab"
    )


def a_stream(fault: str, call: Method = "ListAndWatch") -> Call:
    """Return an open call, by default the stream of the list, which met a rule or none."""
    return Call(time=NOON, call=call, resource=GPU, started=0, request={}, sent=1, fault=fault)


def flap(every: str | None) -> Flap:
    """Return changes to come of one device."""
    return Flap(("GPU-1",), "toggled", "xid 79", every, 3)


def held_back(plugin: Plugin, why: str) -> None:
    """Have a reason for which the node does not come to show what the plugin has."""
    match why:
        case "the kubelet does not watch it":
            plugin.announces(replace(a_resource(7), registered=False))
        case "its list met a rule":
            plugin.calls = (a_stream("rule-1"),)
        case _:
            plugin.announces(a_resource(7), flaps=(flap("50ms"),))


@pytest.mark.parametrize(
    "why", ["the kubelet does not watch it", "its list met a rule", "a device of it flaps"]
)
def test_what_cannot_be_shown_is_not_waited_for(
    cluster: Cluster, node: NodeHandle, plugin: Plugin, why: str
) -> None:
    """The action has happened, and the test goes on at once."""
    held_back(plugin, why)
    node.break_device("0")
    assert cluster.clock.now() == 0


@pytest.mark.parametrize("names", [{"unit": "MIG-1"}, {"card": "GPU-0"}])
def test_a_part_of_a_card_flaps_with_it_and_by_itself(
    cluster: Cluster, node: NodeHandle, plugin: Plugin, names: dict[str, str]
) -> None:
    """As of MIG: its name is another one than the card's, and either may be what flaps."""
    part = replace(a_device(1), **names)  # type: ignore[arg-type]
    plugin.announces(replace(a_resource(7), devices=(part,)), flaps=(flap("50ms"),))
    node.break_device("0")
    assert cluster.clock.now() == 0


def test_a_rule_that_another_call_met_holds_no_list_back(
    cluster: Cluster, node: NodeHandle, plugin: Plugin
) -> None:
    """An Allocate that hangs says nothing of what is announced."""
    plugin.calls = (a_stream("rule-1", "Allocate"),)
    cluster.clock.at(2, lambda: cluster.node(allocatable={GPU: 7}))
    node.break_device("0")
    assert cluster.clock.now() == 2


def test_the_other_resources_are_waited_for(
    cluster: Cluster, node: NodeHandle, plugin: Plugin
) -> None:
    """One that is held back takes nothing from them."""
    plugin.calls = (a_stream("rule-1"),)
    plugin.announces(a_resource(7), a_resource(1, 1, "amd.com/gpu"))
    both = {GPU: 8, "amd.com/gpu": 1}
    cluster.clock.at(4, lambda: cluster.node(capacity=both, allocatable=both))
    node.plug("0")
    assert cluster.clock.now() == 4


def test_a_step_that_comes_once_is_waited_through(
    cluster: Cluster, node: NodeHandle, plugin: Plugin
) -> None:
    """What counts is what the plugin has announced by the time of the look."""
    plugin.announces(a_resource(7), flaps=(flap(None),))
    cluster.clock.at(1, lambda: plugin.announces(a_resource(6)))
    cluster.clock.at(2, lambda: cluster.node(allocatable={GPU: 6}))
    node.break_device("0")
    assert cluster.clock.now() == 2


def test_a_resource_with_a_rival_is_not_waited_for(cluster: Cluster, node: NodeHandle) -> None:
    """The kubelet goes by the plugin that registered last."""
    node.rivals.add(GPU)
    node.break_device("0")
    assert cluster.clock.now() == 0


def test_a_plugin_that_starts_again_is_waited_for(
    cluster: Cluster, node: NodeHandle, plugin: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody can be asked meanwhile."""

    def away() -> Facts:
        raise CheckFailed("the plugin does not answer", seen="Connection refused")

    with monkeypatch.context() as gone:
        gone.setattr(plugin, "facts", away)
        with pytest.raises(TimedOut) as raised:
            node.break_device("0", within=1)
    assert raised.value.seen == "the plugin does not answer: Connection refused"
    cluster.clock.at(2, lambda: cluster.node(allocatable={GPU: 7}))
    node.break_device("0")
    assert cluster.clock.now() == 2


def test_the_plugin_itself_does_not_wait(cluster: Cluster, node: NodeHandle) -> None:
    """For whoever wants to see what comes before the node shows it."""
    node.plugin.break_device("0")
    assert cluster.clock.now() == 0
