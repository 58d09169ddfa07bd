"""The journal, and what `gpulab inject` and `gpulab journal` print for tools."""

import json
from typing import Any

import pytest

from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.faults.fault import Fault, Hang
from fake_plugin.serving.journal import Record
from lab.cli.main import run
from tests.unit.cli.two_nodes import Output, inject
from tests.unit.stand_ins.api_server import GPU, FakeApi
from tests.unit.stand_ins.plugin import Plugin


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
