"""`gpulab conform`: its table, its JSON, and its exit codes."""

import importlib
import json
import sys
from types import ModuleType

import pytest

from lab.cli.main import run
from lab.conformance import examination
from lab.conformance.check import Result, Rule, Verdict
from lab.conformance.command import PluginCommand
from lab.conformance.in_cluster import examination as in_cluster
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from lab.core.errors import CleanUpFailed, LabError
from lab.core.exit_codes import ExitCode

COMMAND = ["conform", "--plugin-command", "my-plugin {dir}"]
Told = dict[str, object]


def result(name: str, verdict: Verdict, seen: str) -> Result:
    """Return the result of a check of the test's own."""
    return Result(Rule(name, f"does {name}", f"{name} matters.", f"{name}.go"), verdict, seen)


GOOD = result("good", Verdict.PASSED, "well " + "x" * 100)
BAD = result("bad", Verdict.FAILED, "it ended\nwith a cry")
ODD = (Verdict.FAILED, "\x07ding\n\x1b[1A")
LEFT_OUT = result("left-out", Verdict.NOT_APPLICABLE, "not offered")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """Return what an examination was told, of which `results` is what it finds."""
    told: Told = {"results": (GOOD, LEFT_OUT)}

    def examine(command: PluginCommand, **options: object) -> Report:
        told.update(options, command=command)
        results = told["results"]
        assert isinstance(results, tuple)
        problem = told.get("problem")
        assert problem is None or isinstance(problem, LabError)
        return Report(command.argv, "a.b/c", ("a.b/c", "a.b/d"), results, problem=problem)

    monkeypatch.setattr(examination, "examine", examine)
    return told


def test_options_are_passed_on(told: Told) -> None:
    """The command is split; the timeout is the time to register."""
    options = ["--dir-variable", "DIR", "--resource", "a.b/c", "--timeout", "7"]
    assert run([*COMMAND, *options]) == ExitCode.DONE
    assert told["command"] == PluginCommand(("my-plugin", "{dir}"), "DIR")
    assert (told["resource"], told["limits"]) == ("a.b/c", Limits(register=7))


def test_the_table_has_every_check_and_the_count(
    told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is long is cut off, as it is in no line of the failures."""
    told["results"] = (GOOD, BAD, LEFT_OUT)
    assert run(COMMAND) == ExitCode.CHECK_FAILED
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[1] == f"✓  good      does good      well {'x' * 54}…"
    assert lines[2] == "✗  bad       does bad       it ended"
    assert lines[3] == "\N{EN DASH}  left-out  does left-out  not offered"
    assert lines[4:] == [
        "",
        "✗ bad: does bad",
        "  seen: it ended",
        "        with a cry",
        "  why:  bad matters.",
        "  read: bad.go",
        "",
        "a.b/c: 1 passed, 1 failed, 1 not applicable",
    ]
    assert err.splitlines() == [
        "error: 1 of 3 checks failed: bad",
        "  where: my-plugin '{dir}'",
        "  next:  mend the plugin; the report says of each what it breaks, and where to read on",
    ]


def test_what_was_seen_is_cut_off_by_what_it_takes_on_a_terminal(
    told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Chinese character takes two columns of the table's sixty."""
    told["results"] = (result("good", Verdict.PASSED, "好" * 100),)
    assert run(COMMAND) == ExitCode.DONE
    assert capsys.readouterr().out.splitlines()[1] == f"✓  good   does good   {'好' * 29} …"


def test_what_a_plugin_says_is_printed_so_that_it_can_be_seen(
    told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever it is: neither the table nor a failure moves what a terminal shows."""
    told["results"] = (result("good", Verdict.PASSED, "a\0\x1b[2J"), result("bad", *ODD))
    assert run(COMMAND) == ExitCode.CHECK_FAILED
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "✓  good   does good   a␀␛[2J"
    assert lines[2] == "✗  bad    does bad    ␇ding"
    assert lines[5:7] == ["  seen: ␇ding", "        ␛[1A"]


def test_a_name_between_colons_stays_a_name(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    """No picture is put in its place."""
    told["results"] = (result("good", Verdict.PASSED, "a:key:b"),)
    assert run(COMMAND) == ExitCode.DONE
    assert capsys.readouterr().out.splitlines()[1] == "✓  good   does good   a:key:b"


def test_the_json_has_everything(told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is cut off, and the exit code is the same."""
    told["results"] = (GOOD, BAD)
    assert run([*COMMAND, "--output", "json"]) == ExitCode.CHECK_FAILED
    report = json.loads(capsys.readouterr().out)
    assert report.pop("checks")[1] == {
        "id": "bad",
        "title": "does bad",
        "verdict": "failed",
        "seen": "it ended\nwith a cry",
        "why": "bad matters.",
        "source": "bad.go",
    }
    assert report == {
        "image": "",
        "command": "my-plugin '{dir}'",
        "resource": "a.b/c",
        "resources": ["a.b/c", "a.b/d"],
        "passed": 1,
        "failed": 1,
        "notApplicable": 0,
        "undecided": 0,
        "problem": "",
    }


def test_what_could_not_be_decided_is_no_success(
    told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told apart from what the plugin does wrong."""
    told["results"] = (GOOD, result("torn", Verdict.UNDECIDED, "the engine is gone"))
    assert run(COMMAND) == ExitCode.CHECK_FAILED
    out, err = capsys.readouterr()
    assert "\n?  torn   does torn   the engine is gone\n" in out
    assert "\n? torn: does torn\n  seen: the engine is gone\n\n" in out
    assert out.endswith("a.b/c: 1 passed, 0 failed, 0 not applicable, 1 undecided\n")
    assert err.splitlines() == [
        "error: 1 of 2 checks could not be decided: torn",
        "  where: my-plugin '{dir}'",
        "  next:  see to what was in the way, which the report says, and try the plugin again",
    ]


def test_what_is_left_behind_is_told_after_the_report(
    told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was found is not lost, and its failures do not hide what is to be removed."""
    told.update(results=(GOOD, BAD), problem=CleanUpFailed("a pod is left", commands=("rm",)))
    assert run([*COMMAND, "--output", "json"]) == ExitCode.CHECK_FAILED
    out, err = capsys.readouterr()
    assert (json.loads(out)["failed"], json.loads(out)["problem"]) == (1, "a pod is left")
    assert err == "error: a pod is left\n         $ rm\n"


def test_an_image_is_tried_in_the_lab_that_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command is its container's, with the folder where it is on a node."""
    told: Told = {}

    def examine_image(image: str, command: tuple[str, ...], **options: object) -> Report:
        told.update(options)
        return Report(command, "", (), (GOOD,), image)

    monkeypatch.setattr(in_cluster, "examine_image", examine_image)
    options = ["--image", "mine:1", "--plugin-command", "run {dir}", "--name", "other"]
    assert run(["conform", *options, "--output", "json"]) == ExitCode.DONE
    report = json.loads(capsys.readouterr().out)
    assert report["image"] == "mine:1"
    assert report["command"] == "run /var/lib/kubelet/device-plugins"
    assert (told["name"], told["resource"], told["seconds"]) == ("other", "", 30)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["conform"], "say what starts the plugin: --plugin-command, --image or both"),
        ([*COMMAND, "--image", "i", "--dir-variable", "D"], "--dir-variable is for a process"),
        ([*COMMAND, "--name", "other"], "--name is for --image: a process is tried without a lab"),
        (["conform", "--image", "i", "--plugin-command", "'"], "No closing quotation"),
        (["conform", "--plugin-command", "'"], "No closing quotation"),
        ([*COMMAND, "--timeout", "0"], "'0' must be a number of 1 or more"),
        ([*COMMAND, "--timeout", "nan"], "nan is not a number of seconds"),
    ],
)
def test_wrong_options_are_refused(
    arguments: list[str], words: str, told: Told, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is started."""
    assert run(arguments) == ExitCode.USAGE
    assert words in capsys.readouterr().err
    assert "command" not in told


def test_a_name_for_all_commands_is_not_refused(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has set the variable has a lab, and tries a process all the same."""
    monkeypatch.setenv("GPULAB_NAME", "other")
    assert run(COMMAND) == ExitCode.DONE
    assert "command" in told


def test_libraries_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lab does without gRPC; the error has what to install."""
    find = importlib.import_module

    def fail(name: str) -> ModuleType:
        if name.startswith("fake_plugin.api"):
            raise ImportError("No module named 'grpc'")
        return find(name)

    monkeypatch.setattr(importlib, "import_module", fail)
    assert run(COMMAND) == ExitCode.NOT_READY
    told = capsys.readouterr().err
    assert "seen:  ImportError: No module named 'grpc'" in told
    assert "$ pip install 'gpu-lab[plugin]'" in told
    assert sys.executable in told
