"""Things that are made once: each is a folder in the cache, found again by what went into it.

A `Part` says by itself, before anything runs, under which key its product lies: its own inputs
and the keys of the parts that it needs. So a finished build is recognised in milliseconds, a
changed version remakes what depends on it and nothing else, and an interrupted run resumes at
the first part that is missing. A product is made in a folder beside its place and renamed when
it is complete: a product that can be found is never half of one.
"""

import errno
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lab.core.errors import Interrupted, NotReady
from lab.core.progress import Progress, Step
from lab.host.folders import unwritable
from lab.host.processes import Processes, ProcessFailed, pasteable

#: The file in a product that says what it is; see `Made`.
RECORD: Final = "made.json"
#: How the name of everything begins that is not complete yet.
UNFINISHED: Final = ".making-"
_LOCK_SECONDS: Final = 0.5
_KEY_CHARACTERS: Final = 16
_NO_SPACE: Final = "no space left on device"


def digest_of(*texts: str | bytes) -> str:
    """Return the SHA-256, in hex, of these texts and of where one ends and the next begins."""
    total = hashlib.sha256()
    for text in texts:
        raw = text.encode() if isinstance(text, str) else text
        total.update(b"%d:" % len(raw))
        total.update(raw)
    return total.hexdigest()


@dataclass(frozen=True)
class Part:
    """One thing to make.

    `inputs` is everything beside `needs` that decides what comes out: versions, command lines,
    the text of our own files. `make` fills `Making.folder`.
    """

    name: str
    title: str
    version: str
    inputs: tuple[str, ...]
    make: Callable[["Making"], None]
    needs: tuple["Part", ...] = ()

    @cached_property
    def key(self) -> str:
        """The name of the product, derived from all inputs."""
        return digest_of(self.name, self.version, *self.inputs, *(each.key for each in self.needs))


@dataclass(frozen=True)
class Making:
    """What a part may use while it is made.

    `folder` becomes the product, `scratch` is removed afterwards, `path` gives the product of a
    part that it needs.
    """

    folder: Path
    scratch: Path
    processes: Processes
    step: Step
    path: Callable[[Part], Path]


@dataclass(frozen=True)
class Made:
    """The record of a product: what it is, its size in bytes and the seconds that it took."""

    name: str
    version: str
    key: str
    bytes: int
    seconds: float


def place_of(part: Part, store: Path) -> Path:
    """Return where the product of a part is in the folder of a store, or would be."""
    return store / f"{part.name}-{part.key[:_KEY_CHARACTERS]}"


def is_made(part: Part, store: Path) -> bool:
    """Whether the folder of a store has the product of a part, as far as one can look into it."""
    try:
        return (place_of(part, store) / RECORD).is_file()
    except OSError:
        return False


class Store:
    """A folder of products. Who makes some does so inside `alone`; who only looks need not."""

    def __init__(self, folder: Path, processes: Processes, progress: Progress) -> None:
        self.folder = folder
        self._processes = processes
        self._progress = progress

    def path(self, part: Part) -> Path:
        """Return where the product of a part is, or would be."""
        return place_of(part, self.folder)

    def has(self, part: Part) -> bool:
        """Whether the part has been made."""
        return is_made(part, self.folder)

    def record(self, part: Part) -> Made:
        """Return what is known of a product that is there."""
        return Made(**json.loads((self.path(part) / RECORD).read_text()))

    def get(self, part: Part) -> Path:
        """Return the product of a part, made now if it is not there.

        Raises `NotReady` where the folder cannot be written or the disk is full; what was made
        before that stays.
        """
        with self._progress.step(part.title) as step:
            if self.has(part):
                step.cached()
            else:
                self._make(part, step)
        return self.path(part)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the only one that makes something here: wait for another process to end first.

        Raises `Interrupted` where the wait is, and `NotReady` as `writing` does.
        """
        lock = self._locked()
        try:
            with self.writing("nothing can be built"):
                self._sweep()
            yield
        finally:
            lock.release()

    @contextmanager
    def writing(self, what: str) -> Iterator[None]:
        """Let a file be written here; `what` is not done where that fails.

        Raises `NotReady` where the disk (the engine's as well) is full or the folder not writable.
        """
        try:
            yield
        except (OSError, ProcessFailed) as error:
            if ran_out_of_space(error):
                raise disk_full(what, self.folder, error) from error
            if isinstance(error, OSError):
                raise unwritable(self.folder, "GPULAB_CACHE_HOME", error) from error
            raise

    def _locked(self) -> FileLock:
        lock = FileLock(self.folder / ".lock")
        with self.writing("nothing can be built"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with suppress(Timeout):
                lock.acquire(timeout=0)
        if not lock.is_locked:
            self._progress.note(f"another gpulab builds in {self.folder}: waiting for it")
            self._acquire(lock)
        return lock

    def _acquire(self, lock: FileLock) -> None:
        while not lock.is_locked:
            with suppress(Timeout):
                lock.acquire(timeout=_LOCK_SECONDS)
            if self._processes.cancelled:
                lock.release()
                raise Interrupted("interrupted", where=str(self.folder))

    def _sweep(self) -> None:
        # What a run that was killed has left half made.
        for each in self.folder.glob(f"{UNFINISHED}*"):
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink()

    def _make(self, part: Part, step: Step) -> None:
        started, what = time.monotonic(), f"{part.name} could not be made"
        with self.writing(what):
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=self.folder)
        with unfinished as temporary:
            folder, scratch = Path(temporary) / "product", Path(temporary) / "scratch"
            try:
                folder.mkdir()
                scratch.mkdir()
                part.make(Making(folder, scratch, self._processes, step, self.path))
                self._write_record(part, folder, time.monotonic() - started)
            except (OSError, ProcessFailed) as error:
                if not ran_out_of_space(error):
                    raise
                raise disk_full(what, self.folder, error) from error
            folder.rename(self.path(part))

    def _write_record(self, part: Part, folder: Path, seconds: float) -> None:
        size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
        record = Made(part.name, part.version, part.key, size, round(seconds, 1))
        (folder / RECORD).write_text(json.dumps(record.__dict__, indent=2) + "\n")


def disk_full(what: str, folder: Path, error: Exception) -> NotReady:
    """Return the error to raise where a disk has no room left."""
    return NotReady(
        f"the disk is full: {what}",
        where=str(folder),
        seen=error.seen if isinstance(error, ProcessFailed) else str(error),
        remedy="make room, then run it again: it goes on where it stopped, and nothing half made "
        "is left",
        commands=(pasteable(("df", "-h", str(folder))),),
    )


def ran_out_of_space(error: Exception) -> bool:
    """Whether the error, ours or of a program that was run, says that a disk is full."""
    if isinstance(error, ProcessFailed):
        return _NO_SPACE in f"{error.finished.stderr}{error.finished.stdout}".lower()
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
