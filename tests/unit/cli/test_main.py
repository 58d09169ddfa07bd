"""From a command line to text and an exit code."""

import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from lab import __version__
from lab.cli.main import COMMANDS, run
from lab.core.errors import (
    CheckFailed,
    CleanUpFailed,
    Interrupted,
    LabError,
    NotReady,
    TimedOut,
    UsageError,
)

SLOW = ("kubernetes", "pydantic", "rich", "yaml")


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], list[str]]:
    """Return what makes a command that raises, and gives the line that runs it."""

    def command_for(error: BaseException) -> list[str]:
        @click.command()
        def fail() -> None:
            raise error

        monkeypatch.setitem(COMMANDS, "fail", (f"{__name__}:fail", ""))
        monkeypatch.setattr(
            importlib, "import_module", lambda _: type("Module", (), {"fail": fail})
        )
        return ["fail"]

    return command_for


@pytest.fixture
def without_reader() -> Iterator[int]:
    """Return the writing end of a pipe from which nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


def gpulab(
    *arguments: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE
) -> tuple[int, str]:
    """Run `gpulab` as a program; return its exit code and what it said on stderr."""
    command = (sys.executable, "-m", "lab.cli.main", *arguments)
    # As a user's Python is: what is still in a buffer at the end is where it would complain.
    env = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    ended = subprocess.run(command, stdout=stdout, stderr=stderr, env=env, text=True, check=False)
    return ended.returncode, ended.stderr or ""


@pytest.mark.parametrize("name", COMMANDS)
def test_line_in_the_help_is_the_commands_own(name: str) -> None:
    """The table repeats it, so that the help imports no command."""
    where, line = COMMANDS[name]
    module, _, attribute = where.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    assert command.help.splitlines()[0] == line
    assert command.name == name


def test_help_lists_all_commands_in_the_order_of_the_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Which is the order of use, and ends with 0."""
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out.split("Commands:\n")[1].split("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines()] == list(COMMANDS)


def test_help_imports_nothing_slow() -> None:
    """It has 150 ms, of which the Kubernetes client alone would take four times as much."""
    script = (
        "import sys; from lab.cli.main import run; run(['--help']);"
        f"sys.stderr.write(' '.join(set({SLOW!r}) & set(sys.modules)))"
    )
    ended = subprocess.run(
        (sys.executable, "-c", script), capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (LabError("it broke"), 1),
        (CheckFailed("it broke"), 1),
        (CleanUpFailed("it broke"), 1),
        (UsageError("it broke"), 2),
        (NotReady("it broke"), 3),
        (TimedOut("it broke"), 4),
    ],
)
def test_error_is_its_text_and_its_code(
    fails: Callable[[BaseException], list[str]],
    capsys: pytest.CaptureFixture[str],
    error: LabError,
    code: int,
) -> None:
    """On stderr, so that what is on stdout can be piped."""
    assert run(fails(error)) == code
    assert capsys.readouterr() == ("", "error: it broke\n")


@pytest.mark.parametrize(
    "error", [Interrupted("interrupted by SIGINT"), KeyboardInterrupt("interrupted by SIGINT")]
)
def test_interrupt_is_one_line(
    fails: Callable[[BaseException], list[str]],
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
) -> None:
    """It is no error: the user asked for it."""
    assert run(fails(error)) == 130
    assert capsys.readouterr().err == "interrupted by SIGINT\n"


def test_interrupt_without_a_word_says_so(
    fails: Callable[[BaseException], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """As Python raises it before the lab's own handlers are in place."""
    assert run(fails(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("code", [0, 3])
def test_exit_of_a_command_is_its_code(
    fails: Callable[[BaseException], list[str]], code: int
) -> None:
    """A command may end with a code and no words."""
    assert run(fails(click.exceptions.Exit(code))) == code


@pytest.mark.parametrize("error", [ValueError("oops"), EOFError("oops"), OSError("oops")])
def test_bug_shows_where_it_is(
    fails: Callable[[BaseException], list[str]],
    capsys: pytest.CaptureFixture[str],
    error: Exception,
) -> None:
    """Anything that is not of the lab's own errors is one, and can be reported."""
    assert run(fails(error)) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "Traceback (most recent call last):"
    assert said[-1] == "This is a bug in gpu-lab. Please report it with the lines above."


# A command line that is not refused would run: it finds no Docker, and no lab of the user.
@pytest.mark.usefixtures("put_on_path", "state")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command 'frobnicate'."),
        (["--frobnicate"], "No such option '--frobnicate'."),
        (["up", "extra"], "Got unexpected extra argument (extra)"),
        (["up", "--timeout", "soon"], "'soon' must be a number of 1 or more"),
        (["up", "--timeout", "nan"], "nan is not a number of seconds"),
        (["up", "--timeout", "inf"], "inf is not a number of seconds"),
        (["up", "--timeout", "0"], "'0' must be a number of 1 or more"),
        (["status", "--output", "yaml"], "'yaml' is not one of 'text', 'json'."),
        (["logs", "--tail", "0"], "'0' must be a whole number of 1 or more"),
    ],
)
def test_wrong_command_line_is_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    """In click's words, with the usage of the command."""
    assert run(arguments) == 2
    err = capsys.readouterr().err
    assert err.startswith("Usage: gpulab")
    assert said in err


@pytest.mark.parametrize(
    "name", ["", "A", "-a", "a-", "a_b", "a.b", "a/b", "../a", "é", "a" * 33, "a b"]
)
def test_bad_name_is_refused_with_the_rule(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """It becomes part of host names and of paths."""
    assert run(["status", "--name", name]) == 2
    assert "use 1 to 32 lower-case letters, digits and '-'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a", "7", "a-b", "gpu-lab", "a" * 32])
def test_good_name_is_taken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """It gets as far as the lab that is not there."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path))
    assert run(["status", "--name", name]) == 3
    assert capsys.readouterr().err.startswith(f"error: there is no lab {name!r}\n")


@pytest.mark.parametrize("variable", ["GPULAB_NAME", "GPULAB_STATUS_NAME"])
def test_option_has_an_environment_twin(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variable: str,
) -> None:
    """The name also one for all commands."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path))
    monkeypatch.setenv(variable, "t-env")
    assert run(["status"]) == 3
    assert "there is no lab 't-env'" in capsys.readouterr().err


def test_version_is_printed_in_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    """As the option that every program has, and as a command with what is pinned."""
    assert [run(["--version"]), run(["version"])] == [0, 0]
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"gpulab {__version__}", f"gpulab: {__version__}"]


@pytest.mark.parametrize("arguments", [["--help"], ["version"], ["up", "--help"]])
def test_reader_that_has_gone_is_no_error(without_reader: int, arguments: list[str]) -> None:
    """As in `gpulab logs | head`: it has what it wanted."""
    assert gpulab(*arguments, stdout=without_reader) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "code"), [(["status", "--name", "t-none"], 3), (["frob"], 2)]
)
def test_code_is_right_though_nobody_reads_the_error(
    without_reader: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    code: int,
) -> None:
    """A script may have thrown stderr away with a pipe that is closed."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path))
    assert gpulab(*arguments, stderr=without_reader)[0] == code


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    """And is a wrong command line."""
    assert run([]) == 2
    assert "Usage: gpulab [OPTIONS] COMMAND" in capsys.readouterr().err


def test_the_help_of_run_says_what_no_name_means(capsys: pytest.CaptureFixture[str]) -> None:
    """And where the names are, and what to do about those that are skipped."""
    assert run(["run", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for words in ("Without a name that is all of them", "`gpulab list`", "--backend kind"):
        assert words in told
