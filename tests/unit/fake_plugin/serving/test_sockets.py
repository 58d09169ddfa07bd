"""Names of sockets, and what is left of runs that did not end well."""

import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fake_plugin.errors import NotReady
from fake_plugin.files.inode import Inode
from fake_plugin.serving.sockets import PATH_LIMIT, SocketNames, answers, is_ours


@pytest.fixture
def names(folder: Path, tmp_path: Path) -> SocketNames:
    """Return names for the folder."""
    return SocketNames(folder, tmp_path)


@contextmanager
def listening(path: Path) -> Iterator[None]:
    """Listen on a socket, and leave its file behind."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        yield


def dead(path: Path) -> Path:
    """Return `path` with a socket there that nobody listens on."""
    with listening(path):
        pass
    return path


def raise_read_only(_: Path, *, missing_ok: bool = False) -> None:
    """Fail as the removal of a file on a disk that is read-only."""
    del missing_ok
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_every_name_is_new(names: SocketNames) -> None:
    """Two sockets of one resource have different names of our form in the folder."""
    first, second = names.take("example.com/a"), names.take("example.com/a")
    assert first != second
    assert {first.parent, second.parent} == {names.folder}
    assert is_ours(first.name)


@pytest.mark.parametrize("resource", ["a.b/c", f"{'x' * 200}.com/{'y' * 63}"])
def test_a_name_is_short_whatever_the_resource(names: SocketNames, resource: str) -> None:
    """The longest resource name fits into the kubelet's folder, and most others."""
    assert len(names.take(resource).name) == 29


@pytest.mark.parametrize("name", ["kubelet.sock", "nvidia-gpu.sock", "gpulab-1-2.sock", ""])
def test_other_names_are_not_ours(name: str) -> None:
    """The plugin keeps off what others put into the folder."""
    assert not is_ours(name)


def test_a_folder_with_a_long_path_is_refused(tmp_path: Path) -> None:
    """The error says how long, what the limit is, and by how much to shorten."""
    folder = tmp_path / ("d" * (PATH_LIMIT - len(os.fsencode(tmp_path)) - 1))
    with pytest.raises(NotReady) as caught:
        SocketNames(folder, tmp_path)
    length = PATH_LIMIT + 30
    assert f"{length} bytes; the system's limit is {PATH_LIMIT}" in caught.value.what
    assert "at least 30 bytes shorter" in caught.value.remedy


def test_a_folder_that_just_fits_is_taken(folder: Path, tmp_path: Path) -> None:
    """The limit itself is still usable: the system can bind there."""
    deep = folder / ("d" * (PATH_LIMIT - len(os.fsencode(folder)) - 31))
    deep.mkdir()
    path = SocketNames(deep, tmp_path).take("example.com/a")
    assert len(os.fsencode(path)) == PATH_LIMIT
    with listening(path):
        assert answers(path)


def test_a_dead_socket_on_record_is_removed(names: SocketNames) -> None:
    """What a killed plugin left is gone after the next start, and said once."""
    path = dead(names.take("example.com/a"))
    assert names.remove_leftovers() == [path.name]
    assert not path.exists()
    assert names.remove_leftovers() == []


def test_a_socket_that_answers_is_kept(names: SocketNames) -> None:
    """The old plugin of a rolling update goes on."""
    path = names.take("example.com/a")
    with listening(path):
        assert names.remove_leftovers() == []
        assert path.exists()
    assert names.remove_leftovers() == [path.name]


def test_what_is_not_on_record_is_kept(names: SocketNames) -> None:
    """A name of our form alone does not make a socket ours."""
    path = dead(names.folder / "gpulab-00000000-00000000.sock")
    assert names.remove_leftovers() == []
    assert path.exists()


def test_what_is_no_socket_is_kept(names: SocketNames) -> None:
    """A file that somebody put in the place of our socket is not ours."""
    path = names.take("example.com/a")
    path.touch()
    assert names.remove_leftovers() == []
    assert path.exists()


def test_a_name_that_is_given_back_leaves_nothing(names: SocketNames, tmp_path: Path) -> None:
    """Neither the socket nor its record stays, and twice is no error."""
    path = dead(names.take("example.com/a"))
    names.give_back(path)
    names.give_back(path)
    assert not path.exists()
    assert list((tmp_path / "sockets").iterdir()) == []


def test_a_record_that_was_removed_is_made_anew(names: SocketNames, tmp_path: Path) -> None:
    """The next socket is on record, and a name is given back without one."""
    first = names.take("example.com/a")
    shutil.rmtree(tmp_path / "sockets")
    names.give_back(first)
    second = names.take("example.com/a")
    assert [path.name for path in (tmp_path / "sockets").iterdir()] == [second.name]


def test_a_socket_is_removed_though_its_record_cannot_be(
    names: SocketNames, tmp_path: Path
) -> None:
    """A state folder that has become unusable is no reason to fail, or to leave the socket."""
    path = dead(names.take("example.com/a"))
    shutil.rmtree(tmp_path / "sockets")
    (tmp_path / "sockets").touch()
    names.give_back(path)
    assert not path.exists()


def test_a_socket_that_cannot_be_removed_stays_on_record(
    names: SocketNames, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not said to be removed, and the next start tries again."""
    path = dead(names.take("example.com/a"))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", raise_read_only)
        assert names.remove_leftovers() == []
    assert names.remove_leftovers() == [path.name]


def test_what_took_the_place_of_a_socket_stays(names: SocketNames, tmp_path: Path) -> None:
    """A folder under the name of a socket is not ours, and no failure; the record goes."""
    path = names.take("example.com/a")
    path.mkdir()
    names.give_back(path)
    assert path.is_dir()
    assert list((tmp_path / "sockets").iterdir()) == []


def test_a_record_that_cannot_be_made_is_named(folder: Path, tmp_path: Path) -> None:
    """Something else under that name in the state folder is an error of the node."""
    (tmp_path / "sockets").touch()
    with pytest.raises(NotReady, match="the record of sockets cannot be made"):
        SocketNames(folder, tmp_path)


def test_a_socket_made_anew_is_another(folder: Path) -> None:
    """A file is told from its successor, and from nothing."""
    path = folder / "kubelet.sock"
    assert Inode.of(path) is None
    first = Inode.of(dead(path))
    assert first == Inode.of(path)
    path.unlink()
    assert first != Inode.of(dead(path))
