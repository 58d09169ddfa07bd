"""A folder of ours under the path that most plugins know."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.conformance.command import PluginCommand
from lab.conformance.fixed_folder import FIXED_FOLDER, at_fixed_folder
from lab.core.errors import NotReady
from lab.host.processes import Processes

TO_PASTE = "--dir-variable"


def test_a_program_finds_the_folder_there_and_nobody_else_does(tmp_path: Path) -> None:
    """What it writes is in our folder, and the machine has no file more."""
    folder = tmp_path / "d"
    folder.mkdir()
    before = Path(FIXED_FOLDER).exists()
    try:
        begin = at_fixed_folder(folder, Processes())
    except NotReady as reason:
        pytest.skip(reason.what)
    Processes().run((*begin, "sh", "-c", f"echo hello >{FIXED_FOLDER}/mine"))
    assert (folder / "mine").read_text() == "hello\n"
    assert Path(FIXED_FOLDER).exists() is before
    assert not Path(FIXED_FOLDER, "mine").exists()


def test_a_command_that_tells_no_folder_is_started_there(
    put_on_path: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """By unshare, with the plugin's own command at the end."""
    put_on_path("unshare", "exit 0")
    launch = PluginCommand.parse("my-plugin -v").on(tmp_path / "d", Processes())
    assert launch.argv[0] == "unshare"
    assert launch.argv[-4:] == (str(tmp_path / "d"), FIXED_FOLDER, "my-plugin", "-v")


@pytest.mark.parametrize(("user", "options"), [(0, []), (1000, ["--user", "--map-root-user"])])
def test_a_user_gets_a_namespace_of_users_as_well(
    user: int,
    options: list[str],
    put_on_path: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Root needs none."""
    put_on_path("unshare", "exit 0")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    begin = at_fixed_folder(tmp_path / "d", Processes())
    assert list(begin[1 : begin.index("--mount")]) == options


def test_a_system_that_refuses_is_told_in_its_words(
    put_on_path: Callable[[str, str], Path], tmp_path: Path
) -> None:
    """And what would do instead."""
    put_on_path("unshare", "echo unshare failed: Operation not permitted >&2; exit 1")
    with pytest.raises(NotReady) as refused:
        at_fixed_folder(tmp_path / "d", Processes())
    assert FIXED_FOLDER in refused.value.what
    assert refused.value.seen == "unshare failed: Operation not permitted"
    assert refused.value.commands == (f"sudo mkdir -p {FIXED_FOLDER}",)
    assert TO_PASTE in refused.value.remedy


@pytest.mark.parametrize("platform", ["darwin", "linux"])
def test_a_system_that_has_no_such_namespaces_is_not_ready(
    platform: str,
    put_on_path: Callable[[str, str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Linux without the program is none either."""
    if platform == "darwin":
        put_on_path("unshare", "exit 0")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(NotReady, match="on Linux alone, with the program unshare") as refused:
        at_fixed_folder(tmp_path / "d", Processes())
    assert TO_PASTE in refused.value.remedy
