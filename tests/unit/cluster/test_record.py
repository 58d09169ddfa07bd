"""What the lab remembers of a cluster, in a folder of its own."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cluster.record import LabFolder, Record, RecordDamaged
from lab.core.errors import CleanUpFailed, NotReady
from lab.host.folders import Folders
from tests.unit.stand_ins.irregular import IRREGULAR

RECORD = Record("t-lab", "kind", "creating", "node:v1")
WRITTEN = {"name": "t-lab", "backend": "kind", "phase": "creating", "node_image": "node:v1"}


Reading = Callable[[LabFolder], object]


@pytest.fixture(params=IRREGULAR)
def put(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Return what puts something that is no file into a file's place."""
    putting: Callable[[Path], None] = request.param
    return putting


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    """Return the folder of a lab that is not there yet."""
    return LabFolder.of(Folders(tmp_path / "state", tmp_path / "cache"), "t-lab")


def test_record_is_read_as_it_was_written(folder: LabFolder) -> None:
    """Nothing is lost between two commands."""
    folder.write(RECORD)
    assert folder.read() == RECORD


def test_record_of_another_cluster_has_more(folder: LabFolder) -> None:
    """Which nodes are the lab's, where the image is, and by what the cluster is known."""
    record = Record("t-lab", "existing", "ready", "", ("a", "b"), "plugin:1", "uid")
    folder.write(record)
    assert folder.read() == record


def test_folder_is_the_users_alone_and_has_the_mark(folder: LabFolder) -> None:
    """A kubeconfig will lie here; the mark is there before a node can mount it."""
    folder.write(RECORD)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert folder.owner_mark.is_dir()


@pytest.mark.parametrize("target", [None, "gone", "../state/t-lab", "file"])
def test_what_is_no_folder_is_in_the_way(folder: LabFolder, target: str | None) -> None:
    """A file or a link to none is not the lab's to remove; the way out is to move it away."""
    folder.path.parent.mkdir()
    (folder.path.parent / "file").touch()
    if target is None:
        folder.path.touch()
    else:
        folder.path.symlink_to(target)
    with pytest.raises(NotReady) as raised:
        folder.require_place()
    seen = f"a symbolic link to {target}, no folder" if target else "a file"
    assert raised.value.render() == (
        "the folder of the lab 't-lab' cannot be there: something else is\n"
        f"  where: {folder.path}\n"
        f"  seen:  {seen}\n"
        "  next:  move it away, or set GPULAB_STATE_HOME to another folder\n"
        f"         $ mv {folder.path} {folder.path}.moved"
    )


@pytest.mark.parametrize("target", [None, "elsewhere"])
def test_folder_may_be_a_link_or_still_to_be_made(folder: LabFolder, target: str | None) -> None:
    """A folder on another disk is a folder."""
    if target:
        (folder.path.parent / target).mkdir(parents=True)
        folder.path.symlink_to(target)
    folder.require_place()
    folder.write(RECORD)
    assert folder.read() == RECORD


def test_state_folder_that_is_a_file_holds_no_lab(folder: LabFolder) -> None:
    """Nothing is damaged: there is no lab in it."""
    folder.path.parent.touch()
    assert folder.read() is None


def test_missing_record_is_no_error(folder: LabFolder) -> None:
    """There is no lab then."""
    assert folder.read() is None


def test_standing_lab_is_marked_ready(folder: LabFolder) -> None:
    """Only the phase changes."""
    folder.write(RECORD)
    folder.mark_ready()
    assert folder.read() == Record("t-lab", "kind", "ready", "node:v1")


def test_writing_that_breaks_off_leaves_the_old_record(
    folder: LabFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk may cost the new record, never the one that says whose the cluster is."""
    folder.write(RECORD)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fchmod", full)
    with pytest.raises(NotReady, match="the lab cannot write its own files") as raised:
        folder.mark_ready()
    assert raised.value.where == str(folder.path)
    assert "No space left on device" in raised.value.seen
    assert folder.read() == RECORD


def test_text_is_written_in_place_of_the_old_one(folder: LabFolder) -> None:
    """In UTF-8 wherever the lab runs, and with nothing left beside it."""
    folder.write(RECORD)
    folder.write_text(folder.fleet, "old")
    folder.write_text(folder.fleet, "né")
    assert folder.fleet.read_bytes() == "né".encode()
    assert {each.name for each in folder.path.iterdir()} == {"lab.json", "node", "fleet.yaml"}


def test_two_writers_do_not_meet(folder: LabFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that writes while another does leaves its own text whole, and the last one stays."""
    folder.write(RECORD)
    chmod = os.fchmod

    def second_writer(descriptor: int, mode: int) -> None:
        monkeypatch.setattr("os.fchmod", chmod)
        folder.write_text(folder.fleet, "second")
        chmod(descriptor, mode)

    monkeypatch.setattr("os.fchmod", second_writer)
    folder.write_text(folder.fleet, "first")
    assert folder.fleet.read_text() == "first"
    assert folder.fleet.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["fleet", "kind_config"])
def test_text_that_cannot_be_written_is_an_error_of_the_lab(folder: LabFolder, name: str) -> None:
    """A folder in the file's place stands for whatever the system refuses."""
    file: Path = getattr(folder, name)
    file.mkdir(parents=True)
    with pytest.raises(NotReady, match="the lab cannot write its own files") as raised:
        folder.write_text(file, "new")
    assert raised.value.where == str(folder.path)
    assert "Is a directory" in raised.value.seen


def test_state_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    """With the variable that puts it elsewhere."""
    (tmp_path / "file").touch()
    folder = LabFolder.of(Folders(tmp_path / "file" / "state", tmp_path), "t-lab")
    with pytest.raises(NotReady, match="the lab cannot write its own files") as raised:
        folder.write(RECORD)
    assert "GPULAB_STATE_HOME" in raised.value.remedy


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        pytest.param("", "JSONDecodeError", id="empty"),
        pytest.param('{"name": "t-l', "JSONDecodeError", id="cut off"),
        pytest.param("[]", "TypeError", id="a list"),
        pytest.param('"creating"', "TypeError", id="a text"),
        pytest.param('{"name": "t-lab", "backend": "kind"}', "KeyError: 'phase'", id="a key less"),
        pytest.param(
            json.dumps(WRITTEN | {"phase": "odd"}), "ValueError: phase 'odd'", id="odd phase"
        ),
        pytest.param("\udcff", "UnicodeDecodeError", id="no text"),
    ],
)
def test_damaged_record_is_named_with_the_way_out(
    folder: LabFolder, content: str, seen: str
) -> None:
    """The error says where it is and which command starts anew."""
    folder.write(RECORD)
    file = folder.path / "lab.json"
    file.write_bytes(content.encode(errors="surrogateescape"))
    with pytest.raises(RecordDamaged, match="the lab's own record cannot be read") as raised:
        folder.read()
    assert raised.value.where == str(file)
    assert raised.value.seen.startswith(seen)
    assert raised.value.commands == ("gpulab down --name t-lab",)


def test_record_that_may_not_be_read_is_named(
    folder: LabFolder, put: Callable[[Path], None]
) -> None:
    """Whoever waited for it would wait for ever; the lab is removed with all that is there."""
    folder.write(RECORD)
    put(folder.path / "lab.json")
    with pytest.raises(RecordDamaged, match="the lab's own record cannot be read") as raised:
        folder.read()
    assert raised.value.seen == "NotRegular: it is no regular file"
    assert raised.value.commands == ("gpulab down --name t-lab",)


@pytest.mark.parametrize(
    ("name", "read", "what"),
    [
        ("token", LabFolder.known_token, "the lab's token for its plugins cannot be read"),
        ("token", LabFolder.control_token, "the lab's token for its plugins cannot be read"),
        ("fleet.yaml", LabFolder.placed_fleet, "the lab's own copy of its fleet cannot be read"),
    ],
)
def test_what_is_no_file_is_moved_away_before_it_is_written_anew(
    folder: LabFolder, put: Callable[[Path], None], name: str, read: Reading, what: str
) -> None:
    """Not read: a pipe has no end. `gpulab up` alone could not write over a folder."""
    folder.write(RECORD)
    file = folder.path / name
    put(file)
    with pytest.raises(RecordDamaged, match=what) as raised:
        read(folder)
    assert (raised.value.where, raised.value.seen) == (str(file), "it is no regular file")
    assert raised.value.commands == (f"mv {file} {file}.moved", "gpulab up --name t-lab")


def test_last_lab_takes_the_state_folder_with_it(folder: LabFolder) -> None:
    """No file of the lab is left, and no empty folder either."""
    folder.write(RECORD)
    folder.remove()
    assert not folder.path.parent.exists()


def test_other_labs_stay(folder: LabFolder, tmp_path: Path) -> None:
    """The state folder is shared."""
    other = LabFolder.of(Folders(tmp_path / "state", tmp_path / "cache"), "t-other")
    folder.write(RECORD)
    other.write(RECORD)
    folder.remove()
    assert other.read() == RECORD


def test_removing_twice_is_removing(folder: LabFolder) -> None:
    """Whatever is to be gone and is gone is no error."""
    folder.write(RECORD)
    folder.remove()
    folder.remove()
    assert not folder.path.exists()


def test_files_that_stay_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean-up that failed says what is left and what to paste, a blank in the path or not."""
    folder = LabFolder(tmp_path / "my labs" / "t-lab")

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(CleanUpFailed, match="could not be removed") as raised:
        folder.remove()
    assert raised.value.commands == (f"rm -r '{folder.path}'",)
    assert "Permission denied" in raised.value.seen


def test_token_is_made_once_and_kept(folder: LabFolder) -> None:
    """Whoever may read the lab's folder may command its plugins, and nobody else."""
    folder.write(RECORD)
    assert folder.known_token() == ""
    token = folder.control_token()
    assert len(token) >= 32
    assert (folder.control_token(), folder.known_token()) == (token, token)
    assert folder.token.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"short\n", b"\xff" * 40])
def test_token_that_no_plugin_would_take_is_made_anew(folder: LabFolder, content: bytes) -> None:
    """Such as one that a full disk has cut off."""
    folder.write(RECORD)
    folder.token.write_bytes(content)
    assert len(folder.control_token()) >= 32
    assert folder.token.stat().st_mode & 0o777 == 0o600
