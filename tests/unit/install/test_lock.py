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


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[FileLock]:
    """Return the locks that are made; one of which nobody knows any more gives itself back."""
    found: list[FileLock] = []

    def made(path: Path, timeout: float) -> FileLock:
        found.append(FileLock(path, timeout=timeout))
        return found[-1]

    monkeypatch.setattr("lab.install.lock.FileLock", made)
    return found


def test_a_lock_is_given_back_with_its_lab(folders: Folders, kept: list[FileLock]) -> None:
    """Its file stays with the lab: who waits at it would not see a lock in another one."""
    with alone(folders, "mine", "pytest"):
        LabFolder.of(folders, "mine").path.mkdir(parents=True)
    assert [each.name for each in (folders.cache / "locks").iterdir()] == ["mine.lock"]
    with alone(folders, "mine", "gpulab run"):
        assert [each.is_locked for each in kept] == [False, True]


def test_a_lock_is_given_back_where_nobody_could_be_told_who_has_it(
    folders: Folders, kept: list[FileLock]
) -> None:
    """The lab is in nobody's hands then."""
    (folders.cache / "locks" / "mine.user").mkdir(parents=True)
    with pytest.raises(NotReady), alone(folders, "mine", "pytest"):
        pytest.fail("nobody could be told")
    assert [each.is_locked for each in kept] == [False]


def test_a_lab_whose_folder_cannot_be_is_not_locked(folders: Folders) -> None:
    """A file is in its place, and whoever works on it is told before anything is made."""
    folders.state.mkdir()
    (folders.state / "mine").write_text("")
    with pytest.raises(NotReady) as raised, alone(folders, "mine", "pytest"):
        pytest.fail("there is no such lab")
    assert raised.value.what.startswith("the folder of the lab 'mine' cannot be there")
    assert not folders.cache.exists()


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
