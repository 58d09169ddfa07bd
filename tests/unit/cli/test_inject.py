"""What `gpulab inject` and `gpulab journal` do to plugins, print, and end with."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.faults.fault import Fault, Hang
from fake_plugin.fleet.plan import Plan, Share
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from fake_plugin.journal import Record
from lab.cli.inject.calls import ANSWERS, CALLS
from lab.cli.inject.health import ECC
from lab.cli.main import run
from lab.cluster.record import LabFolder
from lab.core.fleet import Fleet, Pool
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod
from tests.unit.stand_ins.plugin import TOKEN, Plugin

NPU = "npu.example.com/chip"
H100 = Accelerator("nvidia-h100-sxm-80gb", "nvidia", "NVIDIA H100 80GB HBM3", 81559, 700)
GPUS = Share("nvidia", "nvidia-0", 2, accelerator=H100)
CHIPS = Share("npu", "npu-0", 2, resource=NPU)
NEXT = "\nNext:\n  gpulab inject list --name t-lab\n  gpulab inject clear --name t-lab\n"

Output = pytest.CaptureFixture[str]


@pytest.fixture
def plugins(lab: FakeApi, state: Path, tmp_path: Path) -> tuple[Plugin, Plugin]:
    """Return the plugins of a lab of two nodes: two GPUs on the one, two chips on the other."""
    folder = LabFolder(state / "t-lab")
    pools = (Pool("nvidia", 1, None, 2, accelerator=H100), Pool("npu", 1, NPU, 2))
    placed = Fleet(pools).placed_on(("t-lab-worker", "t-lab-worker2"))
    folder.fleet.write_text(placed.to_yaml())
    folder.write_text(folder.token, TOKEN)
    lab.add(node("t-lab-worker2"))
    lab.pods = [pod("plugin-1", "t-lab-worker"), pod("plugin-2", "t-lab-worker2")]
    found = (
        Plugin("t-lab-worker", Plan((GPUS,)), tmp_path / "1"),
        Plugin("t-lab-worker2", Plan((CHIPS,), sticky=True), tmp_path / "2"),
    )
    for number, each in enumerate(found, 1):
        lab.listening[f"plugin-{number}:9441"] = each.answer
    return found


def inject(*arguments: str) -> int:
    """Run a command of `gpulab inject` on the lab; return its exit code."""
    return run(["inject", *arguments, "--name", "t-lab"])


def broken(plugins: Sequence[Plugin]) -> list[dict[int, str]]:
    """Return what is broken on each node, by index."""
    states = [(each.node.inventory, each.node.inventory.board.state.broken) for each in plugins]
    return [
        {
            device.card.index: str(state[device.unit])
            for device in inventory.resources[0].devices
            if device.unit in state
        }
        for inventory, state in states
    ]


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


@pytest.mark.usefixtures("plugins")
def test_what_was_done_comes_before_what_was_skipped(capsys: Output) -> None:
    """However the fleet orders its nodes: a reader looks for what has become of the command."""
    assert inject("unhealthy", "npu/0") == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("npu-0 (t-lab-worker2): 1 device unhealthy")
    assert second == "nvidia-0 (t-lab-worker): skipped: this node has no device 'npu/0'"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["fault", "Allocate", "--drop", "0s"], "Allocate has no stream that could be dropped"),
        (["fault", "Allocate", "--delay", "soon"], "soon"),
        (["clear", "rule-9"], "there is no rule 'rule-9'"),
        (["unhealthy", "9"], "this node has no device '9'"),
        (["unhealthy", "npu/0", "--xid", "79"], "devices without a vendor have no xid"),
        (["add", "3", "--pool", "p"], "this node has no pool 'p'"),
        (["remove-socket", "a.b/c"], "'a.b/c'"),
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
    ("options", "described"),
    [
        (["--fails", "busy"], "Allocate fails: busy (UNKNOWN), every time"),
        (["--fails", "busy", "--code", "ABORTED"], "Allocate fails: busy (ABORTED), every time"),
        (["--delay", "5s", "--nth", "2"], "Allocate is late by 5s, call 2"),
        (["--hang", "--times", "3"], "Allocate hangs, the first 3 times"),
        (
            ["--answers", "empty", "--nth", "2", "--times", "2"],
            "Allocate is answered wrongly: empty, calls 2 to 3",
        ),
        (["--hang", "--resource", NPU], f"Allocate of {NPU} hangs, every time"),
    ],
)
def test_a_rule_is_made(
    plugins: tuple[Plugin, Plugin], capsys: Output, options: list[str], described: str
) -> None:
    """And told in a line."""
    assert inject("fault", "Allocate", *options, "--node", "npu-0") == 0
    assert f"npu-0 (t-lab-worker2): rule rule-1: {described}\n" in capsys.readouterr().out
    assert [len(each.node.switchboard.book.entries()) for each in plugins] == [0, 1]


def test_a_register_that_fails_is_refused_by_the_kubelet(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """In its own words: the text is not used."""
    del plugins
    assert inject("fault", "Register", "--fails", "no", "--times", "2") == 0
    text = "rule rule-1: Register is refused by the kubelet, the first 2 times\n"
    assert capsys.readouterr().out.count(text) == 2


def test_a_stream_is_dropped(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """Only ListAndWatch has one; the plugin says so of others."""
    assert inject("fault", "ListAndWatch", "--drop", "0s") == 0
    assert inject("fault", "Allocate", "--drop", "0s") == 2
    assert "Allocate has no stream that could be dropped" in capsys.readouterr().err
    assert [len(each.node.switchboard.book.entries()) for each in plugins] == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["fault", "Allocate"], "give one of --fails, --delay, --hang, --answers and --drop"),
        (["fault", "Allocate", "--hang", "--delay", "1s"], "give one of --fails"),
        (["fault", "Reallocate", "--hang"], "'Reallocate' is not one of"),
        (["unhealthy"], "name devices, or give --all: one of the two"),
        (["unhealthy", "0", "--all"], "name devices, or give --all: one of the two"),
        (["unhealthy", "0", "--xid", "1", "--code", "80E01801"], "give one of --xid, --ecc"),
        (["add", "0", "--pool", "npu"], "0 is not in the range"),
        (["plug"], "Missing argument 'DEVICE...'"),
        (["flap", "0", "--times", "3"], "Missing option '--every'"),
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


def test_words_of_the_options_are_those_of_the_plugin() -> None:
    """They are written down again, since the plugin's modules take their time to load."""
    from fake_plugin.faults import fault  # noqa: PLC0415 - see above
    from fake_plugin.hardware import breakage  # noqa: PLC0415

    assert (CALLS, ANSWERS) == (fault.CALLS, fault.WRONG_ANSWERS)
    assert (breakage.SINGLE_BIT, breakage.DOUBLE_BIT) == ECC


def test_a_socket_is_removed(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """Of the nodes that have the resource."""
    del plugins
    assert inject("remove-socket", NPU) == 0
    assert f"npu-0 (t-lab-worker2): removed the socket of {NPU}\n" in capsys.readouterr().out


def test_what_goes_wrong_is_listed(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """Per node: devices, cards, flaps and rules; or that there is nothing."""
    chips = plugins[1].node
    first, second = (device.id for device in chips.inventory.resources[0].devices)
    inject("unhealthy", "npu/0")
    inject("unplug", "npu/1")
    inject("add", "2", "--pool", "npu")
    inject("fault", "Allocate", "--hang", "--nth", "1", "--node", "npu-0")
    chips.switchboard.book.meet("Allocate", NPU)
    capsys.readouterr()
    assert inject("list") == 0
    assert capsys.readouterr().out == (
        "nvidia-0 (t-lab-worker):\n"
        "  nothing: all is as the fleet says\n"
        "npu-0 (t-lab-worker2):\n"
        f"  npu/0 {first}: unhealthy, unspecified\n"
        f"  npu/1 {second}: unplugged\n"
        "  npu: 2 cards added\n"
        "  rule rule-1: Allocate hangs, call 1 (seen 1, met 1, spent)\n"
        "\nNext:\n  gpulab inject clear --name t-lab\n  gpulab journal --name t-lab\n"
    )


@pytest.mark.parametrize(
    ("every", "times", "told"),
    [
        (None, None, "unhealthy, once, later"),
        (3600.0, None, "unhealthy, every 3600s, for ever"),
        (3600.0, 4, "unhealthy, every 3600s, 4 times more"),
    ],
)
def test_flaps_say_how_often_they_are_to_come(
    plugins: tuple[Plugin, Plugin],
    capsys: Output,
    every: float | None,
    times: int | None,
    told: str,
) -> None:
    """A step of a fleet's script comes once; others go on."""
    turn = Turn(("GPU-1",), "unhealthy", Breakage(), 3600.0, every, times)
    plugins[0].node.script.add(turn)
    assert inject("list") == 0
    assert f"  GPU-1: {told}\n" in capsys.readouterr().out


def test_one_rule_is_removed(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """By its name, on the nodes that have it; what is broken and the other rules stay."""
    book = plugins[1].node.switchboard.book
    book.add("Allocate", Hang())
    book.add("Register", Hang())
    inject("unhealthy", "npu/0")
    capsys.readouterr()
    assert inject("clear", "rule-1") == 0
    assert "npu-0 (t-lab-worker2): rule-1 removed" in capsys.readouterr().out
    assert [entry.fault.id for entry in book.entries()] == ["rule-2"]
    assert broken(plugins)[1] != {}


def test_a_rule_that_no_node_has_is_an_error(
    plugins: tuple[Plugin, Plugin], capsys: Output
) -> None:
    """And nothing is removed instead."""
    plugins[0].node.switchboard.book.add("Allocate", Hang())
    assert inject("clear", "rule-9") == 2
    assert "rule-9" in capsys.readouterr().err
    assert len(plugins[0].node.switchboard.book.entries()) == 1


def test_everything_is_cleared(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """With a word about what a sticky policy keeps."""
    for each in plugins:
        each.node.inventory.board.break_units(
            [each.node.inventory.resources[0].devices[0].unit], Breakage()
        )
        each.node.switchboard.book.add("Allocate", Hang())
    assert inject("clear") == 0
    assert broken(plugins) == [{}, {}]
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == "nvidia-0 (t-lab-worker): all mended; 1 rule removed"
    assert second.endswith(
        "the policy is sticky: what was unhealthy is so until the plugin restarts"
    )
    inject("list")
    assert "unhealthy, though mended: the policy is sticky" in capsys.readouterr().out


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


def read(capsys: Output) -> list[dict[str, Any]]:
    """Return what was printed for tools, node by node."""
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["nodes"]
    return found


def test_tools_get_json_whatever_came_of_it(
    plugins: tuple[Plugin, Plugin], lab: FakeApi, capsys: Output
) -> None:
    """Results beside errors, each with its node."""
    uid = plugins[0].node.inventory.resources[0].devices[0].id
    assert inject("unhealthy", "nvidia/0", "--output", "json") == 0
    first, second = read(capsys)
    assert first == {
        "node": "t-lab-worker",
        "members": ["nvidia-0"],
        "ok": True,
        "result": {
            "count": 1,
            "units": [uid],
            "becomes": "unhealthy",
            "breakage": "unspecified",
            "ignored": False,
            "sticky": False,
        },
    }
    assert (second["ok"], second["skipped"]) == (False, True)
    assert set(second["error"]) == {"what", "where", "seen", "remedy"}
    lab.listening.clear()
    assert inject("clear", "--output", "json") == 1
    assert [each["skipped"] for each in read(capsys)] == [False, False]


@pytest.mark.usefixtures("plugins")
def test_the_list_for_tools_has_all_kinds(capsys: Output) -> None:
    """The keys are there also where there is nothing to tell."""
    assert inject("list", "--output", "json") == 0
    result = read(capsys)[0]["result"]
    assert result == {
        "policy": "recovers",
        "ready": True,
        "broken": [],
        "unplugged": [],
        "added": {},
        "flaps": [],
        "faults": [],
        "problems": [],
    }


def test_the_journal_is_printed(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """A line per call, and one for each that has not ended."""
    journal = plugins[0].node.switchboard.journal
    rule = Fault("rule-1", "Allocate", Hang())
    with journal.recording(Record("Allocate", GPU, Empty())) as record:
        record.fault, record.code = rule.id, "UNAVAILABLE"
    with journal.recording(Record("ListAndWatch", GPU, Empty())):
        assert run(["journal", "--name", "t-lab", "--node", "nvidia-0"]) == 0
    title, call, open_call, *rest = capsys.readouterr().out.splitlines()
    assert title == "nvidia-0 (t-lab-worker):"
    assert call.split()[0] == "1"
    assert call.split()[3:] == ["ms", "UNAVAILABLE", "Allocate", GPU, "[rule-1]"]
    assert open_call.split()[0] == "open"
    assert open_call.split()[2:] == ["ListAndWatch", GPU]
    assert rest == ["", "Next:", "  gpulab inject list --name t-lab"]


def test_the_journal_is_read_to_its_end(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """However many answers it takes; or from a number on."""
    journal = plugins[0].node.switchboard.journal
    for _ in range(2500):
        with journal.recording(Record("Allocate", GPU, Empty())):
            pass
    arguments = ["journal", "--name", "t-lab", "--output", "json"]
    assert run(arguments) == 0
    first, second = read(capsys)
    assert [call["n"] for call in first["result"]["calls"]] == list(range(1, 2501))
    assert (first["result"]["next"], second["result"]["next"]) == (2501, 1)
    assert run([*arguments, "--since", "2500"]) == 0
    assert [call["n"] for call in read(capsys)[0]["result"]["calls"]] == [2500]


@pytest.mark.usefixtures("plugins")
def test_a_journal_without_calls_says_so(capsys: Output) -> None:
    """A node whose kubelet has not called yet."""
    assert run(["journal", "--name", "t-lab", "--since", "7"]) == 0
    assert capsys.readouterr().out.count("  no calls yet from number 1 on\n") == 2
