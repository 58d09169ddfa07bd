"""Products that are made once, found again, and never half there."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from lab.core.errors import Interrupted, NotReady
from lab.host.processes import Processes, ProcessFailed
from lab.images.store import Making, Part, Store, digest_of, is_made
from tests.unit.images.conftest import part, written


def failing(error: BaseException) -> Part:
    """Return a part that writes half of its product and fails."""

    def make(making: Making) -> None:
        written("half")(making)
        raise error

    return Part("part", "Make part", "v1", (), make)


def unfinished(store: Store) -> list[str]:
    """Return the names of what is not whole."""
    return [each.name for each in store.folder.iterdir() if each.name.startswith(".making-")]


def test_product_is_made_once(store: Store, said: list[str]) -> None:
    """The second request finds what the first has made."""
    made = store.get(part())
    (made / "file").write_text("touched")
    assert (store.get(part()) / "file").read_text() == "touched"
    assert said == ["done: Make part", "done: Make part"]


def test_record_tells_size_and_version(store: Store) -> None:
    """What a product is can be read from its folder."""
    store.get(part("four"))
    record = store.record(part("four"))
    assert (record.name, record.version, record.bytes) == ("four", "v1", 4)
    assert record.key == part("four").key
    assert record.seconds >= 0


@pytest.mark.parametrize(
    "other",
    [
        part("other"),
        part("part", "flag"),
        part("part", needs=(part("need"),)),
        Part("part", "Make part", "v2", (), written("part")),
    ],
    ids=["name", "input", "need", "version"],
)
def test_key_follows_every_input(other: Part) -> None:
    """Whatever goes in decides where the product lies."""
    assert other.key != part("part").key


def test_key_follows_the_inputs_of_a_need() -> None:
    """A change far below remakes what stands on it."""
    changed = part("top", needs=(part("need", "changed"),))
    assert changed.key != part("top", needs=(part("need"),)).key


def test_title_is_no_input() -> None:
    """Another wording remakes nothing."""
    assert Part("part", "Other words", "v1", (), written("")).key == part().key


def test_digest_tells_where_texts_end() -> None:
    """The same characters in other pieces are another digest."""
    assert digest_of("ab", "c") != digest_of("a", "bc")
    assert digest_of("ab") == digest_of(b"ab")


@pytest.mark.parametrize("error", [ValueError("x"), Interrupted("stop"), KeyboardInterrupt()])
def test_failed_product_leaves_nothing(store: Store, error: BaseException) -> None:
    """An error and an interruption alike leave no half product."""
    with pytest.raises(type(error)):
        store.get(failing(error))
    assert list(store.folder.iterdir()) == []


def test_full_disk_is_told_as_one(store: Store) -> None:
    """A disk without room is the machine's matter, with the way on."""
    with pytest.raises(NotReady) as raised:
        store.get(failing(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
    assert raised.value.render() == (
        "the disk is full: part could not be made\n"
        f"  where: {store.folder}\n"
        "  seen:  [Errno 28] No space left on device\n"
        "  next:  make room, then run it again: it goes on where it stopped, and nothing half "
        "made is left\n"
        f"         $ df -h '{store.folder}'"
    )
    assert unfinished(store) == []


def test_full_disk_of_a_program_is_told_as_one(store: Store) -> None:
    """The words of a program about its disk count as well."""

    def make(making: Making) -> None:
        making.processes.run(("sh", "-c", "echo 'x: No space left on device' >&2; exit 1"))

    with pytest.raises(NotReady) as raised:
        store.get(Part("part", "t", "v", (), make))
    assert raised.value.seen == "x: No space left on device"


def get(store: Store) -> None:
    """Have a part made."""
    store.get(part())


def be_alone(store: Store) -> None:
    """Begin to build."""
    with store.alone():
        pytest.fail("builds where nothing can be written")


@pytest.mark.parametrize("use", [get, be_alone])
def test_folder_that_cannot_be_written_is_told(
    store: Store, tmp_path: Path, use: Callable[[Store], None]
) -> None:
    """A cache below a file, or on a disk that is read-only, is the user's to put elsewhere."""
    (tmp_path / "file").touch()
    store.folder = tmp_path / "file" / "cache"
    with pytest.raises(NotReady) as raised:
        use(store)
    assert raised.value.render() == (
        "the lab cannot write its own files\n"
        f"  where: {store.folder}\n"
        f"  seen:  [Errno 20] Not a directory: '{store.folder}'\n"
        "  next:  make room and the folder writable, or set GPULAB_CACHE_HOME to another one"
    )


@pytest.mark.parametrize(
    ("use", "what"),
    [(get, "part could not be made"), (be_alone, "nothing can be built")],
)
def test_full_disk_is_told_before_anything_is_made(
    store: Store, monkeypatch: pytest.MonkeyPatch, use: Callable[[Store], None], what: str
) -> None:
    """The first folder on it does not find room either."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(NotReady, match=f"the disk is full: {what}"):
        use(store)


def test_store_that_one_cannot_look_into_has_nothing(tmp_path: Path) -> None:
    """Who only asks is told so; who builds learns why."""
    assert not is_made(part(), tmp_path / ("x" * 300))


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), ValueError("no")])
def test_other_errors_stay_what_they_are(store: Store, error: Exception) -> None:
    """Only a full disk is called one."""
    with pytest.raises(type(error), match="no"):
        store.get(failing(error))


def test_failed_program_stays_one(store: Store) -> None:
    """A program's other failures keep their words."""

    def make(making: Making) -> None:
        making.processes.run(("sh", "-c", "echo broken >&2; exit 3"))

    with pytest.raises(ProcessFailed, match="broken"):
        store.get(Part("part", "t", "v", (), make))


def test_leftovers_of_a_killed_run_are_swept(store: Store) -> None:
    """Who starts to build removes what another could not."""
    (store.folder / ".making-old").mkdir(parents=True)
    (store.folder / ".making-old.tar").write_text("half")
    with store.alone():
        assert unfinished(store) == []


def test_second_builder_waits_for_the_first(store: Store, said: list[str]) -> None:
    """Two builds at once become one after the other, and the second says so."""
    store.folder.mkdir()
    first = FileLock(store.folder / ".lock", thread_local=False)
    first.acquire()
    entered = threading.Event()

    def second() -> None:
        with store.alone():
            entered.set()

    waiting = threading.Thread(target=second)
    waiting.start()
    assert not entered.wait(0.2)
    first.release()
    waiting.join(10)
    assert entered.is_set()
    assert said == [f"another gpulab builds in {store.folder}: waiting for it"]


def test_waiting_builder_can_be_interrupted(store: Store, processes: Processes) -> None:
    """A wait ends with the command that waits."""
    store.folder.mkdir()
    processes.cancel()
    with FileLock(store.folder / ".lock"), pytest.raises(Interrupted), store.alone():
        pytest.fail("entered while another builds")
