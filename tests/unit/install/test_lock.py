"""A lab is in the hands of one command at a time."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from lab.cluster.record import LabFolder
from lab.core.errors import NotReady
from lab.host.folders import Folders
from lab.install.down import take_down
from lab.install.lock import alone, alone_at
from lab.install.site import Site


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return folders that are not there yet."""
    return Folders(tmp_path / "state", tmp_path / "cache")


def test_the_second_is_told_who_has_it(folders: Folders) -> None:
    """And the first has it still."""
    with alone(folders, "mine", "pytest"):
        for _ in range(2):
            with pytest.raises(NotReady) as raised, alone(folders, "mine", "gpulab run"):
                pass
            assert raised.value.render() == (
                "the lab 'mine' is in use by another command\n"
                f"  seen:  pytest, process {os.getpid()}\n"
                "  next:  let it end, or use a lab of another name\n"
                "         $ gpulab up --name another-name"
            )


def test_who_has_it_is_not_told_when_that_goes_meanwhile(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was in use all the same; the words go just before the lock."""
    read_text = Path.read_text

    def goes(path: Path, encoding: str) -> str:
        path.unlink()
        return read_text(path, encoding)

    with alone(folders, "mine", "pytest"):
        monkeypatch.setattr(Path, "read_text", goes)
        with pytest.raises(NotReady) as raised, alone(folders, "mine", "gpulab run"):
            pass
    assert raised.value.what == "the lab 'mine' is in use by another command"
    assert raised.value.seen == ""


def test_other_labs_are_free(folders: Folders) -> None:
    """Each has a lock of its own."""
    with alone(folders, "mine", "pytest"), alone(folders, "mine-2", "pytest"):
        locks = (folders.cache / "locks").glob("*.lock")
        assert {each.stem for each in locks} == {"mine", "mine-2"}


def test_nothing_is_left_of_a_lab_that_is_not_there(folders: Folders) -> None:
    """The lock's file goes with the lab, and the words with the lock."""
    with alone(folders, "mine", "pytest"):
        pass
    assert not folders.state.exists()
    assert not any((folders.cache / "locks").iterdir())


def test_a_lock_is_given_back_with_its_lab(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file stays with the lab: who waits at it would not see a lock in another one."""
    kept: list[FileLock] = []

    def held(path: Path, timeout: float) -> FileLock:
        kept.append(FileLock(path, timeout=timeout))
        return kept[-1]

    monkeypatch.setattr("lab.install.lock.FileLock", held)
    with alone(folders, "mine", "pytest"):
        LabFolder.of(folders, "mine").path.mkdir(parents=True)
    assert [each.name for each in (folders.cache / "locks").iterdir()] == ["mine.lock"]
    with alone(folders, "mine", "gpulab run"):
        assert [each.is_locked for each in kept] == [False, True]


def test_a_cache_that_cannot_be_written_is_told(folders: Folders) -> None:
    """With the variable that names another."""
    folders.cache.write_text("")
    with pytest.raises(NotReady) as raised, alone(folders, "mine", "pytest"):
        pass
    assert raised.value.where == str(folders.cache)
    assert "GPULAB_CACHE_HOME" in raised.value.remedy


def test_a_run_takes_its_own_lab_down_and_nobody_elses(site: Site) -> None:
    """It has the lab from before that is made, until after it has gone."""
    with alone_at(replace(site, command="gpulab run"), "t-lab") as own:
        assert not take_down("t-lab", own)
        assert not take_down("t-other", own)
        with pytest.raises(NotReady) as raised:
            take_down("t-lab", site)
    assert raised.value.seen == f"gpulab run, process {os.getpid()}"


def test_who_has_a_lab_has_no_other(site: Site) -> None:
    """One that another command is at work on is refused to it as to everybody."""
    with (
        alone_at(replace(site, command="gpulab run"), "t-lab") as own,
        alone(site.folders, "t-other", "pytest"),
        pytest.raises(NotReady) as raised,
    ):
        take_down("t-other", own)
    assert raised.value.seen == f"pytest, process {os.getpid()}"
