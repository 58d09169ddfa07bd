"""A lab is in the hands of one run at a time."""

import os
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.harness.sole_use import sole_use
from lab.host.folders import Folders


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return folders that are not there yet."""
    return Folders(tmp_path / "state", tmp_path / "cache")


def test_the_second_is_told_who_has_it(folders: Folders) -> None:
    """And the first has it still."""
    for _ in range(2):
        with (
            sole_use(folders, "mine", "pytest"),
            pytest.raises(NotReady, match="another run uses the lab 'mine'") as raised,
            sole_use(folders, "mine", "gpulab run"),
        ):
            pass
        assert raised.value.seen == f"pytest, process {os.getpid()}"


def test_other_labs_are_free(folders: Folders) -> None:
    """Also such as have a name that begins alike."""
    with sole_use(folders, "mine", "pytest"), sole_use(folders, "mine.lock", "pytest"):
        assert (folders.state / ".use" / "mine.user").exists()


def test_nothing_is_left(folders: Folders) -> None:
    """Not even the folder of the state, where it was not there before."""
    with sole_use(folders, "mine", "pytest"):
        pass
    assert not folders.state.exists()


def test_a_state_that_cannot_be_written_is_told(folders: Folders) -> None:
    """With the variable that names another."""
    folders.state.write_text("")
    with pytest.raises(NotReady) as raised, sole_use(folders, "mine", "pytest"):
        pass
    assert "GPULAB_STATE_HOME" in raised.value.render()
