"""What can be done to a node by its plugin, on a plugin that does it."""

from collections.abc import Callable

import pytest

from fake_plugin.api.deviceplugin_pb2 import AllocateRequest, Empty
from fake_plugin.faults.fault import Fail, Fault, Hang
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from fake_plugin.serving.journal import Record
from lab.cluster.plugin.api import PluginRefused
from lab.cluster.plugin.cards import CardsAdded
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.cluster.plugin.overview import Cleared, Overview
from lab.cluster.plugin.rules import RuleRemoved
from lab.core.errors import UsageError
from tests.unit.stand_ins.api_server import GPU, FakeApi
from tests.unit.stand_ins.plugin import Plugin

ORDINARY = Overview("recovers", True, (), (), {}, (), (), ())  # noqa: FBT003 - all of its fields


def unit(plugin: Plugin, index: int) -> str:
    """Return the name of a device's hardware."""
    return plugin.node.inventory.resources[0].devices[index].unit


def test_a_device_is_broken_and_mended(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """The answer says of which."""
    second = unit(plugin, 1)
    done = node_plugin.break_device("chapter/1")
    assert (done.count, done.units, done.becomes) == (1, (second,), "unhealthy")
    assert plugin.node.inventory.board.state.broken == {second: Breakage()}
    assert node_plugin.mend("chapter/1").breakage is None
    assert plugin.node.inventory.board.state.broken == {}


def test_a_reason_has_to_fit_the_card(node_plugin: NodePlugin) -> None:
    """The plugin knows its vendor."""
    with pytest.raises(PluginRefused, match="devices without a vendor have no xid"):
        node_plugin.break_device("chapter/1", xid=79)


def test_a_device_flaps(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """By itself, as long as it was told."""
    node_plugin.flap("0", times=10, every=0.1)
    turn = Turn((unit(plugin, 0),), "toggled", Breakage(), after=0.0, every=0.1, times=10)
    assert plugin.node.script.turns() == (turn,)
    assert [flap.left for flap in node_plugin.overview().flaps] == [10]


def test_cards_come_and_go(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """Those that are out are told, and those that are new."""
    resource = plugin.node.inventory.resources[0]
    assert node_plugin.unplug("0", "1").count == 2
    assert resource.devices == ()
    assert [each.index for each in node_plugin.overview().unplugged] == [0, 1]
    assert node_plugin.plug("1").count == 1
    assert node_plugin.add("chapter", 3) == CardsAdded(3, "chapter")
    assert len(resource.devices) == 4
    assert node_plugin.overview().added == {"chapter": 3}


@pytest.mark.parametrize(
    "act",
    [
        NodePlugin.break_device,
        NodePlugin.mend,
        NodePlugin.unplug,
        NodePlugin.plug,
    ],
)
def test_no_name_is_not_all_of_them(
    node_plugin: NodePlugin, act: Callable[[NodePlugin], object]
) -> None:
    """A list of names that is empty by mistake does nothing."""
    with pytest.raises(PluginRefused, match="must name something"):
        act(node_plugin)


def test_a_rule_is_made_and_removed(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """It has got an ID, which no other has."""
    rule = node_plugin.fault("Allocate", nth=1, fails="device busy")
    assert rule.fault == Fault("rule-1", "Allocate", Fail("device busy"), nth=1)
    plugin.node.switchboard.book.meet("Allocate", GPU)
    (found,) = node_plugin.faults()
    assert (found.fault, found.seen, found.hit, found.is_spent) == (rule.fault, 1, 1, True)
    assert node_plugin.remove_fault("rule-1") == RuleRemoved(1)
    assert node_plugin.faults() == ()


@pytest.mark.parametrize("rule", ["", "..", "rule-1/x", "rule-"])
def test_what_names_no_rule_removes_none(node_plugin: NodePlugin, api: FakeApi, rule: str) -> None:
    """The path of all rules is that of one without a name."""
    with pytest.raises(UsageError, match="names no rule"):
        node_plugin.remove_fault(rule)
    assert api.requests == []


def test_a_socket_is_removed(node_plugin: NodePlugin) -> None:
    """One that there is not is refused."""
    assert node_plugin.remove_socket(GPU).removed == GPU
    with pytest.raises(PluginRefused, match=r"a\.b/c"):
        node_plugin.remove_socket("a.b/c")


def test_a_plugin_crashes(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """It answers before, so that no error is told of what was asked for."""
    assert node_plugin.crash().exit_code == 137
    assert node_plugin.crash(2).exit_code == 2
    assert plugin.ended == [137, 2]


def test_everything_is_cleared(node_plugin: NodePlugin) -> None:
    """And is as the fleet says then."""
    assert node_plugin.overview() == ORDINARY
    node_plugin.break_device("0")
    node_plugin.unplug("1")
    node_plugin.add("chapter", 1)
    node_plugin.flap("0", times=2, every=60)
    node_plugin.fault("Allocate", hang=True)
    assert node_plugin.clear() == Cleared(rules=1, flaps=1, sticky=False)
    assert node_plugin.overview() == ORDINARY


def test_the_facts_have_every_device(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """By resource, with its health."""
    node_plugin.break_device("1")
    (resource,) = node_plugin.facts().resources
    assert (resource.name, resource.count, resource.healthy, resource.registered) == (
        GPU,
        2,
        1,
        True,
    )
    devices = plugin.node.inventory.resources[0].devices
    assert [each.id for each in resource.devices] == [each.id for each in devices]
    assert [each.is_ordinary for each in resource.devices] == [True, False]


def test_what_is_unusual_is_told_in_lines(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """None for a node that is as the fleet says."""
    assert [*node_plugin.overview().lines()] == []
    plugin.node.readiness.set_ready(GPU, ready=False)
    plugin.node.switchboard.book.add("Allocate", Hang())
    assert [*node_plugin.overview().lines()] == [
        "the kubelet does not watch all of its resources",
        "rule rule-1: Allocate hangs, every time (seen 0, met 0)",
    ]


def test_a_script_is_played(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """A step that is wrong lets none come, and is told in the words of a fleet file."""
    step = {"at": "1h", "node": "chapter-0", "device": 1, "becomes": "unhealthy"}
    assert node_plugin.script([step, step]).steps == 2
    with pytest.raises(PluginRefused) as caught:
        node_plugin.script([step, {**step, "device": 2}])
    assert caught.value.render() == (
        "script[1].device must be below 2, the number of devices of chapter-0\n"
        "  seen:  2\n"
        "  next:  correct the command; nothing was changed\n"
        "         $ gpulab inject list --name t-lab"
    )
    assert (
        plugin.node.script.turns() == (Turn((unit(plugin, 1),), "unhealthy", Breakage(), 3600),) * 2
    )


def test_open_calls_are_told_without_the_others(node_plugin: NodePlugin, plugin: Plugin) -> None:
    """However many have ended."""
    journal = plugin.node.switchboard.journal
    with journal.recording(Record("Allocate", GPU, AllocateRequest())):
        pass
    with journal.recording(Record("ListAndWatch", GPU, Empty())) as record:
        record.fault = "rule-1"
        (found,) = node_plugin.open_calls()
    assert (found.call, found.resource, found.fault) == ("ListAndWatch", GPU, "rule-1")
    assert node_plugin.open_calls() == ()
