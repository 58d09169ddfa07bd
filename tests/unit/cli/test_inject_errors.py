"""What `gpulab inject` says where it cannot do what it was asked, and its exit codes."""

from pathlib import Path

import pytest

from fake_plugin.control.faults import MOST_RULES
from fake_plugin.control.health import MOST_FLAPS
from fake_plugin.faults.fault import Hang
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from tests.unit.cli.two_nodes import Output, broken, inject
from tests.unit.stand_ins.api_server import FakeApi
from tests.unit.stand_ins.plugin import Plugin


def test_a_node_that_was_named_has_to_have_the_device(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """It is not skipped: the user meant it."""
    assert inject("unhealthy", "nvidia/0", "--node", "nvidia-0", "--node", "npu-0") == 2
    assert broken(plugins) == [{0: "unspecified"}, {}]
    shown = capsys.readouterr()
    assert "npu-0" not in shown.out
    assert shown.err.startswith(
        "error: this node has no device 'nvidia/0'\n  where: npu-0 (t-lab-worker2)\n"
    )


@pytest.mark.usefixtures("plugins")
def test_a_node_that_is_not_of_the_fleet_is_code_2(capsys: Output) -> None:
    """Those that are, are named."""
    assert inject("healthy", "--all", "--node", "t-lab-control-plane") == 2
    assert capsys.readouterr().err == (
        "error: the fleet has no node 't-lab-control-plane'\n"
        "  seen:  nodes that it has: nvidia-0, t-lab-worker, npu-0, t-lab-worker2\n"
        "  next:  name one of these, or none for all\n"
    )


@pytest.mark.parametrize(
    ("arguments", "nodes"),
    [
        (("9",), "nvidia-0 (t-lab-worker), npu-0 (t-lab-worker2)"),
        (("9", "--node", "npu-0"), "npu-0 (t-lab-worker2)"),
    ],
)
def test_a_device_that_no_node_has_is_code_2(
    plugins: tuple[Plugin, Plugin], capsys: Output, arguments: tuple[str, ...], nodes: str
) -> None:
    """Nothing is done, and one text says it for all."""
    assert inject("unhealthy", *arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"error: this node has no device '9'\n  where: {nodes}\n  seen:  it has "
    )
    assert broken(plugins) == [{}, {}]


def test_what_fails_on_one_node_is_done_on_the_other(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """An Xid is for NVIDIA's cards: the command is wrong for the other node alone."""
    assert inject("unhealthy", "--all", "--xid", "79") == 2
    assert broken(plugins) == [{0: "xid 79", 1: "xid 79"}, {}]
    shown = capsys.readouterr()
    assert "nvidia-0 (t-lab-worker): 2 devices unhealthy (xid 79)" in shown.out
    assert "npu-0" not in shown.out
    assert "  where: npu-0 (t-lab-worker2)\n" in shown.err
    assert "cannot break so: devices without a vendor have no xid" in shown.err
    assert "Next:" not in shown.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["clear", "rule-9"], "there is no rule 'rule-9'"),
        (["unhealthy", "9"], "this node has no device '9'"),
        (["unhealthy", "npu/0", "--xid", "79"], "devices without a vendor have no xid"),
        (["add", "3", "--pool", "p"], "this node has no pool 'p'"),
        (["remove-socket", "a.b/c"], "'a.b/c'"),
        (["unhealthy", "npu/0", "npu/0"], "must not name anything twice"),
        (["flap", "npu/0", "--times", "2", "--every", "2h"], "3600 s in all at most"),
        (["plug", "npu/0"], "this node has no unplugged card 'npu/0'"),
        (["add", "100000", "--pool", "npu"], "list"),
        (["unhealthy", "npu/\udcff"], "a name, or another text, cannot be written in UTF-8"),
    ],
)
@pytest.mark.usefixtures("plugins")
def test_errors_speak_of_commands_and_come_once(
    capsys: Output, arguments: list[str], what: str
) -> None:
    """Who typed one knows no body and no path of HTTP; what to type next can be pasted."""
    assert inject(*arguments) == 2
    shown = capsys.readouterr()
    assert (what in shown.err, what in shown.out) == (True, False)
    assert "the request" not in shown.err
    assert "body" not in shown.err
    assert "/v1/" not in shown.err
    assert shown.err.count("error:") == 1
    assert shown.err.endswith("$ gpulab inject list --name t-lab\n")


def test_too_many_rules_are_ended_by_a_command(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """The remedy can be pasted, and is not that of HTTP."""
    for plugin in plugins:
        for _ in range(MOST_RULES):
            plugin.node.switchboard.book.add("Allocate", Hang())
    assert inject("fault", "Allocate", "--hang") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: there are {MOST_RULES} rules already\n")
    assert "next:  remove some with `gpulab inject clear RULE`; nothing was changed\n" in said


def test_too_many_flaps_are_ended_by_a_command(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """They end by themselves too."""
    turn = Turn(("x",), "toggled", Breakage(), after=3600.0, every=3600.0, times=1)
    for _ in range(MOST_FLAPS):
        plugins[1].node.script.add(turn)
    assert inject("flap", "npu/0", "--times", "2", "--every", "1s") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: there are {MOST_FLAPS} flaps already\n")
    assert "or end all with `gpulab inject clear`; nothing was changed\n" in said


def test_one_refusal_counts_more_than_nodes_that_have_no_such_device(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """The one node that has the device says what is wrong."""
    assert inject("unhealthy", "npu/0", "--xid", "79") == 2
    shown = capsys.readouterr()
    assert "nvidia-0 (t-lab-worker): skipped" in shown.out
    assert "cannot break so: devices without a vendor have no xid: that is for nvidia" in shown.err
    assert broken(plugins) == [{}, {}]


def test_a_plugin_that_is_away_is_code_1(
    plugins: tuple[Plugin, Plugin], lab: FakeApi, capsys: Output
) -> None:
    """The others have done what was asked."""
    del lab.listening["plugin-2:9441"]
    assert inject("unhealthy", "--all") == 1
    assert broken(plugins) == [{0: "unspecified", 1: "unspecified"}, {}]
    shown = capsys.readouterr()
    assert shown.err.startswith(
        "error: the plugin does not answer\n  where: npu-0 (t-lab-worker2)\n"
    )
    assert "$ gpulab logs t-lab-worker2 --name t-lab" in shown.err


def test_two_ways_to_fail_are_both_told(
    plugins: tuple[Plugin, Plugin], lab: FakeApi, capsys: Output
) -> None:
    """A node without a pod, and one whose pod is away."""
    del plugins, lab.listening["plugin-1:9441"], lab.pods[1]
    assert inject("clear") == 1
    assert capsys.readouterr().err == (
        "error: 2 nodes did not do it\n"
        "  seen:  nvidia-0 (t-lab-worker): the plugin does not answer\n"
        "         npu-0 (t-lab-worker2): no device plugin runs on the node\n"
        "  next:  see what is said of each\n"
    )


def test_a_lab_without_a_token_is_mended_by_up(
    plugins: tuple[Plugin, Plugin], state: Path, capsys: Output
) -> None:
    """One that an older gpulab made."""
    del plugins
    (state / "t-lab" / "token").unlink()
    assert inject("list") == 1
    assert capsys.readouterr().err.endswith("         $ gpulab up --name t-lab\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["fault", "Allocate"], "give one of --fails, --delay, --hang, --answers and --drop"),
        (["fault", "Allocate", "--hang", "--delay", "1s"], "give one of --fails"),
        (["fault", "Reallocate", "--hang"], "'Reallocate' is not one of"),
        (["fault", "Allocate", "--drop", "0s"], "Allocate has no stream that could be dropped"),
        (["fault", "Allocate", "--delay", "soon"], "'--delay': 'soon' must be a whole number from"),
        (["fault", "Allocate", "--hang", "--code", "ABORTED"], "it goes with fails"),
        (["fault", "Register", "--fails", "x" * 513], "512 characters or less"),
        (["unhealthy"], "name devices, or give --all: one of the two"),
        (["unhealthy", "0", "--all"], "name devices, or give --all: one of the two"),
        (["unhealthy", "0", "--xid", "1", "--code", "80E01801"], "give one of --xid, --ecc"),
        (["add", "0", "--pool", "npu"], "'0' must be a whole number from 1 to 100000"),
        (["unhealthy", "npu/0", "--xid", "abc"], "'abc' must be a whole number of 1 or more"),
        (["plug"], "Missing argument 'DEVICE...'"),
        (["flap", "0", "--times", "3"], "Missing option '--every'"),
        (["flap", "0", "--times", "3", "--every", "1d"], "then ms, s, m or h"),
    ],
)
@pytest.mark.usefixtures("plugins")
def test_what_makes_no_sense_is_code_2_before_anyone_is_asked(
    lab: FakeApi, capsys: Output, arguments: list[str], text: str
) -> None:
    """The command line alone tells."""
    assert inject(*arguments) == 2
    assert text in capsys.readouterr().err
    assert lab.requests == []
