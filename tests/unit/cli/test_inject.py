"""What `gpulab inject` does to devices and cards, on which nodes, and what it prints."""

import pytest

from tests.unit.cli.two_nodes import Output, broken, inject
from tests.unit.stand_ins.plugin import Plugin

NEXT = "\nNext:\n  gpulab inject list --name t-lab\n  gpulab inject clear --name t-lab\n"


def test_a_device_is_broken_and_mended(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """The node that has it says so, the other is skipped, and the next commands can be pasted."""
    uid = plugins[0].node.inventory.resources[0].devices[1].id
    assert inject("unhealthy", "nvidia/1", "--xid", "79") == 0
    assert broken(plugins) == [{1: "xid 79"}, {}]
    assert capsys.readouterr().out == (
        f"nvidia-0 (t-lab-worker): 1 device unhealthy (xid 79): {uid}\n"
        "npu-0 (t-lab-worker2): skipped: this node has no device 'nvidia/1'\n" + NEXT
    )
    assert inject("healthy", uid) == 0
    assert broken(plugins) == [{}, {}]


@pytest.mark.parametrize("name", ["npu-0", "t-lab-worker2"])
def test_a_node_has_two_names(plugins: tuple[Plugin, Plugin], name: str) -> None:
    """The fleet's and the cluster's."""
    assert inject("unhealthy", "--all", "--node", name) == 0
    assert broken(plugins) == [{}, {0: "unspecified", 1: "unspecified"}]


def test_several_nodes_can_be_named(plugins: tuple[Plugin, Plugin]) -> None:
    """Each once, however often."""
    names = ("--node", "npu-0", "--node", "nvidia-0", "--node", "t-lab-worker")
    assert inject("unhealthy", "0", *names) == 0
    assert broken(plugins) == [{0: "unspecified"}, {0: "unspecified"}]


@pytest.mark.usefixtures("plugins")
def test_what_was_done_comes_before_what_was_skipped(capsys: Output) -> None:
    """However the fleet orders its nodes: a reader looks for what has become of the command."""
    assert inject("unhealthy", "npu/0") == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("npu-0 (t-lab-worker2): 1 device unhealthy")
    assert second == "nvidia-0 (t-lab-worker): skipped: this node has no device 'npu/0'"


def test_a_flap_goes_on_by_itself(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """The plugin has it, and the command does not wait."""
    uid = plugins[0].node.inventory.resources[0].devices[0].id
    assert inject("flap", "nvidia/0", "--times", "4", "--every", "100ms") == 0
    (turn,) = plugins[0].node.script.turns()
    assert (turn.units, turn.every, turn.times) == ((uid,), 0.1, 4)
    assert f"1 device will change 4 times, every 100ms: {uid}\n" in capsys.readouterr().out


def test_cards_come_and_go(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """By one command each."""
    resource = plugins[1].node.inventory.resources[0]
    assert inject("unplug", "npu/0") == 0
    assert len(resource.devices) == 1
    assert inject("plug", "npu/0") == 0
    assert inject("add", "3", "--pool", "npu") == 0
    assert len(resource.devices) == 5
    out = capsys.readouterr().out
    assert "npu-0 (t-lab-worker2): 1 card unplugged: fake-" in out
    assert "npu-0 (t-lab-worker2): 3 cards added to pool npu\n" in out
    assert "nvidia-0 (t-lab-worker): skipped: this node has no pool 'npu'\n" in out


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (["--xid", "13"], "the vendor's plugin does not count this, and calls them healthy"),
        (["--xid", "79"], ""),
    ],
)
def test_an_xid_without_an_effect_is_told(
    plugins: tuple[Plugin, Plugin], capsys: Output, options: list[str], note: str
) -> None:
    """Or it would look as if the command had failed."""
    del plugins
    assert inject("unhealthy", "nvidia/0", *options) == 0
    assert note in capsys.readouterr().out.splitlines()[0]
