"""The page of commands says what the commands themselves say."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from lab.cli.main import gpulab, run
from lab.cluster.record import LabFolder
from lab.core.exit_codes import ExitCode
from lab.install.status import Devices, LabStatus, NodeStatus, PluginStatus
from tests.unit.docs.pages import page

PAGE = page("docs/reference/commands.md")
OPTION = re.compile(r"`(--?[a-z][a-z-]*)`")


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield all commands that do something, by the words that call them."""
    context = click.Context(group, info_name=name)
    for each in group.list_commands(context):
        command = group.get_command(context, each)
        assert command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {each}")
        else:
            yield f"{name} {each}", command


COMMANDS = dict(commands(gpulab, "gpulab"))


def variables(called: str, parameter: click.Parameter) -> list[str]:
    """Return the environment variables that stand for an option, the first one first."""
    own = "_".join([*called.split(), str(parameter.name)]).upper().replace("-", "_")
    return [*([str(parameter.envvar)] if parameter.envvar else []), own]


def options(command: click.Command) -> list[click.Option]:
    """Return the options of a command."""
    return [each for each in command.params if isinstance(each, click.Option)]


@pytest.mark.parametrize("called", COMMANDS)
def test_every_option_has_its_row(called: str) -> None:
    """A row has all spellings and the environment variable; there is no row beside those."""
    rows = {row[0]: row for row in PAGE.section(f"`{called}`").rows()}
    wanted = {
        ", ".join(f"`{each}`" for each in option.opts): option
        for option in options(COMMANDS[called])
    }
    assert set(rows) == set(wanted)
    for spelled, option in wanted.items():
        assert rows[spelled][1] == f"`{variables(called, option)[0]}`"


@pytest.mark.parametrize("called", COMMANDS)
def test_defaults_are_those_of_the_commands(called: str) -> None:
    """A default that `--help` shows is in the third column."""
    rows = {row[0]: row for row in PAGE.section(f"`{called}`").rows()}
    for option in options(COMMANDS[called]):
        if option.show_default:
            row = rows[", ".join(f"`{each}`" for each in option.opts)]
            assert row[2] == f"`{option.default}`"


@pytest.mark.parametrize(
    ("variables_set", "used"),
    [
        ({"GPULAB_STATUS_NAME": "of-one"}, "of-one"),
        ({"GPULAB_STATUS_NAME": "of-one", "GPULAB_NAME": "of-all"}, "of-all"),
    ],
)
def test_the_name_for_all_commands_wins_over_that_for_one(
    variables_set: dict[str, str],
    used: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The page says which variable counts where both are set."""
    monkeypatch.delenv("GPULAB_NAME", raising=False)
    for variable, value in {"GPULAB_STATE_HOME": str(tmp_path), **variables_set}.items():
        monkeypatch.setenv(variable, value)
    assert run(["status"]) == ExitCode.NOT_READY
    assert f"there is no lab '{used}'" in capsys.readouterr().err
    assert "`GPULAB_NAME` wins" in PAGE.text


def test_no_command_is_left_out_or_made_up() -> None:
    """The sections are the commands, in the order of `gpulab --help`."""
    titles = [each.title for each in PAGE.sections() if each.title.startswith("`gpulab ")]
    assert titles == [f"`{called}`" for called in COMMANDS]


def test_exit_codes_are_all_there() -> None:
    """The table has the frozen codes, in order."""
    rows = PAGE.section("Exit codes").rows()
    assert [int(row[0]) for row in rows] == [code.value for code in ExitCode]


def test_the_example_of_an_error_is_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page shows how errors read by one that is easy to have."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path))
    assert run(["status", "--name", "other"]) == ExitCode.NOT_READY
    printed = capsys.readouterr().err.replace(str(tmp_path), "/home/me/.local/state/gpu-lab")
    assert printed in {block.text for block in PAGE.blocks("text")}


def test_the_labs_files_are_all_there() -> None:
    """Each file that a lab's folder may hold is named."""
    named = {row[0].strip("`") for row in PAGE.section("Files").rows()}
    folder = LabFolder(Path("state/gpu-lab"))
    files = {folder.kubeconfig, folder.kind_config, folder.fleet, folder.owner_mark, folder.token}
    assert {each.name for each in files} | {"lab.json"} <= {Path(each).name for each in named}


def shape(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return the keys of a JSON value, however deep; of lists that of the first entry."""
    match value:
        case Mapping():
            # The names of resources are the user's.
            return {"a/b" if "/" in key else key: shape(each) for key, each in value.items()}
        case list() | tuple():
            return [shape(value[-1])]
        case _:
            return type(value).__name__


def test_the_example_of_a_status_has_the_keys_and_types_of_one() -> None:
    """`gpulab status --output json` is a contract, and the example shows all of it."""
    (example,) = PAGE.blocks("json")
    nodes = (NodeStatus("n", ready=True, pool="p", resources={"a/b": Devices(2, 2, 0)}),)
    plugins = (PluginStatus("n", "pod", ready=True, restarts=0, image="i"),)
    status = LabStatus("gpu-lab", "kind", "v1", "k", ready=True, nodes=nodes, plugins=plugins)
    assert shape(json.loads(example.text)) == shape(status.as_json())
