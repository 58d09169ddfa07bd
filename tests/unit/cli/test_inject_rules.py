"""Rules, sockets and flaps that `gpulab inject` makes on plugins, lists and clears."""

import pytest

from fake_plugin.faults.fault import Hang
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.script import Turn
from tests.unit.cli.two_nodes import NPU, Output, broken, inject
from tests.unit.stand_ins.plugin import Plugin


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


def test_a_socket_is_removed(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """Of the nodes that have the resource."""
    del plugins
    assert inject("remove-socket", NPU) == 0
    assert f"npu-0 (t-lab-worker2): removed the socket of {NPU}\n" in capsys.readouterr().out


def test_a_plugin_crashes(plugins: tuple[Plugin, Plugin], capsys: Output) -> None:
    """As if the kernel had killed it, unless another exit code is asked for."""
    assert inject("crash", "--node", "npu-0") == 0
    assert inject("crash", "--node", "nvidia-0", "--exit-code", "2") == 0
    assert [each.ended for each in plugins] == [[2], [137]]
    assert capsys.readouterr().out.startswith(
        "npu-0 (t-lab-worker2): the plugin has ended with exit code 137\n"
    )


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


@pytest.mark.parametrize(
    "rule", ["", "..", "a/b", "a?b", "rule-", "fleet-x", "rule-1 ", "rule-1\n"]
)
def test_what_names_no_rule_clears_nothing(
    plugins: tuple[Plugin, Plugin], capsys: Output, rule: str
) -> None:
    """An empty word least of all: it comes of a variable that is not set."""
    plugins[0].node.switchboard.book.add("Allocate", Hang())
    assert inject("clear", rule) == 2
    assert f"{rule!r} names no rule: rule-1 and fleet-1 would" in capsys.readouterr().err
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


@pytest.mark.usefixtures("plugins")
def test_where_nothing_is_injected_nothing_is_offered_to_be_cleared(capsys: Output) -> None:
    """A sound lab is not mended."""
    assert inject("list") == 0
    shown = capsys.readouterr().out
    assert shown.count("nothing: all is as the fleet says") == 2
    assert shown.endswith("\nNext:\n  gpulab journal --name t-lab\n")


@pytest.mark.usefixtures("plugins")
def test_who_has_cleared_all_is_not_sent_to_do_it_again(capsys: Output) -> None:
    """What is left to do is to look."""
    assert inject("clear") == 0
    assert capsys.readouterr().out.endswith("\nNext:\n  gpulab inject list --name t-lab\n")
