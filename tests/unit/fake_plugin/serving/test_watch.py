"""Changes of a folder are told as they happen, and only those that matter."""

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from inotify_simple import INotify

from fake_plugin.serving.watch import FolderWatch
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.kubelet import wait_until

OURS = "gpulab-01234567-89abcdef.sock"


@pytest.fixture
def told() -> list[bool]:
    """Return a list that grows with each change that is told."""
    return []


@pytest.fixture
def watch(folder: Path, told: list[bool]) -> Iterator[FolderWatch]:
    """Return a watch that runs."""
    watch = FolderWatch(folder, lambda: told.append(True))
    watch.start()
    yield watch
    watch.stop()


@pytest.mark.usefixtures("watch")
@pytest.mark.parametrize("name", ["kubelet.sock", OURS])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: path.touch(), id="made"),
        pytest.param(lambda path: (path.parent / "old").rename(path), id="moved in"),
    ],
)
def test_a_socket_that_comes_is_told(
    folder: Path, told: list[bool], name: str, change: Callable[[Path], None]
) -> None:
    """The kubelet's socket and those of our form count, however they get there."""
    (folder / "old").touch()
    change(folder / name)
    wait_until("a change to be told", lambda: len(told) == 1)


def test_a_socket_that_goes_is_told(folder: Path, told: list[bool]) -> None:
    """Removal is a change as well."""
    (folder / OURS).touch()
    watch = FolderWatch(folder, lambda: told.append(True))
    watch.start()
    (folder / OURS).unlink()
    wait_until("a change to be told", lambda: len(told) == 1)
    watch.stop()


def test_other_files_are_not_told(watch: FolderWatch, folder: Path, told: list[bool]) -> None:
    """A busy folder does not keep the plugin busy: of a hundred changes, one matters."""
    for number in range(99):
        (folder / f"checkpoint-{number}").touch()
    (folder / OURS).touch()
    wait_until("the last change to be told", lambda: bool(told))
    watch.stop()
    assert len(told) == 1


@pytest.mark.usefixtures("watch")
def test_a_folder_made_anew_is_watched(folder: Path, told: list[bool]) -> None:
    """That it went and that it is back are changes, and it is watched as before."""
    folder.rmdir()
    wait_until("the end to be told", lambda: bool(told))
    before = len(told)
    folder.mkdir()
    wait_until("the return to be told", lambda: len(told) > before)
    before = len(told)
    (folder / OURS).touch()
    wait_until("a change to be told", lambda: len(told) > before)


def test_a_system_without_inotify_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the call does not exist or fails, the caller gets one kind of error."""

    def missing() -> None:
        raise AttributeError

    monkeypatch.setattr("fake_plugin.serving.watch.INotify", missing)
    with pytest.raises(OSError, match="no inotify"):
        FolderWatch(folder, lambda: None)


def _no_more_watches(*_: object) -> int:
    raise OSError(errno.ENOSPC, "no more watches")


def test_a_system_without_a_watch_to_spare_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of watches is one for all of a user's programs: others may have used them up."""
    monkeypatch.setattr(INotify, "add_watch", _no_more_watches)
    with pytest.raises(OSError, match="no more watches"):
        FolderWatch(folder, lambda: None)


@pytest.mark.usefixtures("watch")
def test_a_watch_that_is_lost_later_is_said_and_replaced_by_looks(
    folder: Path, told: list[bool], monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Nothing changes any more, and still looks come, one after the other, until it is back."""
    monkeypatch.setattr(INotify, "add_watch", _no_more_watches)
    (folder / OURS).touch()
    wait_until("three looks", lambda: len(told) >= 3)
    assert [facts["folder"] for facts in said("watch-missing")] == [str(folder)]
    assert "no more watches" in str(said("watch-missing")[0]["reason"])
