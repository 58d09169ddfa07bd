"""Where the lab keeps its files."""

from pathlib import Path

import pytest

from lab.host.folders import Folders


@pytest.mark.parametrize(
    ("environment", "state", "cache"),
    [
        ({}, "/home/me/.local/state/gpu-lab", "/home/me/.cache/gpu-lab"),
        (
            {"XDG_STATE_HOME": "/xdg/state", "XDG_CACHE_HOME": "/xdg/cache"},
            "/xdg/state/gpu-lab",
            "/xdg/cache/gpu-lab",
        ),
        (
            {"XDG_STATE_HOME": "relative", "XDG_CACHE_HOME": ""},
            "/home/me/.local/state/gpu-lab",
            "/home/me/.cache/gpu-lab",
        ),
        (
            {"GPULAB_STATE_HOME": "/own", "XDG_STATE_HOME": "/xdg", "GPULAB_CACHE_HOME": "/fast"},
            "/own",
            "/fast",
        ),
    ],
    ids=["by default", "as XDG says", "a relative XDG folder is ignored", "as the user says"],
)
def test_folders_follow_the_environment(
    environment: dict[str, str], state: str, cache: str
) -> None:
    """The user's own word comes before XDG's, and that before the default."""
    found = Folders.of({"HOME": "/home/me", **environment})
    assert found == Folders(Path(state), Path(cache))


def test_relative_folder_of_the_user_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It must stay the same folder for a child that runs elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert Folders.of({"HOME": "/", "GPULAB_STATE_HOME": "here"}).state == tmp_path / "here"


def test_user_without_a_home_variable_has_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither cron nor some CI runners set HOME."""
    monkeypatch.setattr(Path, "home", lambda: Path("/from/passwd"))
    assert Folders.of({}).cache == Path("/from/passwd/.cache/gpu-lab")


def test_environment_of_this_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to be handed in."""
    monkeypatch.setenv("GPULAB_CACHE_HOME", "/fast")
    assert Folders.of().cache == Path("/fast")


def test_folder_has_no_way_back_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Docker reports a mounted folder by its clean path, and a lab knows its nodes by that."""
    monkeypatch.chdir(tmp_path)
    folders = Folders.of({"HOME": "home", "GPULAB_STATE_HOME": "../x/./st"})
    assert folders.state == tmp_path.parent / "x" / "st"
    assert folders.cache == tmp_path / "home/.cache/gpu-lab"
