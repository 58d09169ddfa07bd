"""What is known of a run on disk, so that the next one can tidy up after a run that was killed.

    <state>/.pytest/<run>/alive.lock     held as long as the run's main process lives
    <state>/.pytest/<run>/<worker>.pid   which process a worker is; the main one may have to end it
    <state>/.pytest/<run>/<group>/       who has which lab, see `lab.harness.leasing`

The labs of a group are called `<run>-<group>-<number>`.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lab.core.errors import CleanUpFailed
from lab.host.folders import Folders, unwritable
from lab.host.processes import pasteable

#: No lab can be called so.
_FOLDER: Final = ".pytest"
_ALIVE: Final = "alive.lock"
#: The group of a lab that was up before: it is not the run's.
USED: Final = "used"


@dataclass(frozen=True)
class RunFolder:
    """The files of one run, whether they are there or not."""

    path: Path

    @classmethod
    def of(cls, name: str) -> "RunFolder":
        """Return the folder of the run with this name."""
        return cls(Folders.of().state / _FOLDER / name)

    @property
    def name(self) -> str:
        """The run's name, with which the names of its labs begin."""
        return self.path.name

    def make(self) -> None:
        """Make the folder; raises `NotReady` where that cannot be."""
        self._make(self.path)

    def group(self, name: str) -> Path:
        """Return the folder of one group of labs, which is there then; raises as `make`."""
        self._make(self.path / name)
        return self.path / name

    def live(self) -> FileLock:
        """Show that the run is going on, as long as this process lives or the lock is held."""
        lock = FileLock(self.path / _ALIVE, timeout=0)
        lock.acquire()
        return lock

    def note_pid(self, worker: str) -> None:
        """Let it be known which process this worker is."""
        (self.path / f"{worker}.pid").write_text(str(getpid()), encoding="ascii")

    def pids(self) -> tuple[int, ...]:
        """Return the processes of the run's workers."""
        files = sorted(self.path.glob("*.pid"))
        return tuple(int(file.read_text(encoding="ascii")) for file in files)

    def is_dead(self) -> bool:
        """Whether the run's main process has gone without a word."""
        try:
            self.live().release()
        except Timeout:
            return False
        return True

    def labs(self) -> tuple[str, ...]:
        """Return the labs that the run has made, or begun."""
        return tuple(
            f"{self.name}-{file.parent.name}-{file.stem.removeprefix('lab-')}"
            for file in sorted(self.path.glob("*/lab-*.json"))
            if file.parent.name != USED
        )

    def remove(self) -> None:
        """Remove the folder, and those above it where they are empty."""
        try:
            shutil.rmtree(self.path)
            for above in (self.path.parent, self.path.parent.parent):
                if not any(above.iterdir()):
                    above.rmdir()
        except OSError as error:
            raise CleanUpFailed(
                "the files of the run could not be removed",
                where=str(self.path),
                seen=str(error),
                commands=(pasteable(("rm", "-r", str(self.path))),),
            ) from error

    def others(self) -> Iterator["RunFolder"]:
        """Yield the folders of other runs, dead or alive."""
        for each in sorted(self.path.parent.iterdir()):
            if each.is_dir() and each != self.path:
                yield RunFolder(each)

    def _make(self, path: Path) -> None:
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise unwritable(path, "GPULAB_STATE_HOME", error) from error
