"""A lab that is up already is in the hands of one run at a time, be it of pytest or of `gpulab`.

In the state folder, `.use/<lab>.lock` is held as long as a run has the lab, and `.use/<lab>.user`
says in words who that is.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from lab.core.errors import NotReady
from lab.host.folders import Folders, unwritable

#: No lab can be called so.
_FOLDER: Final = ".use"


@contextmanager
def sole_use(folders: Folders, lab: str, who: str) -> Iterator[None]:
    """Have a lab inside the block; `who` is what others are told of this process.

    Raises `NotReady` where another run has it.
    """
    folder = folders.state / _FOLDER
    lock, user = FileLock(folder / f"{lab}.lock", timeout=0), folder / f"{lab}.user"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock.acquire()
        user.write_text(f"{who}, process {os.getpid()}", encoding="utf-8")
    except Timeout as error:
        raise _taken(lab, user) from error
    except OSError as error:
        lock.release()
        raise unwritable(folder, "GPULAB_STATE_HOME", error) from error
    try:
        yield
    finally:
        user.unlink(missing_ok=True)
        Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()
        _remove_empty(folder, folders.state)


def _taken(lab: str, user: Path) -> NotReady:
    # It is written just after the lock was had.
    seen = user.read_text(encoding="utf-8") if user.exists() else ""
    return NotReady(
        f"another run uses the lab {lab!r}",
        seen=seen,
        remedy="let it end, or give this run a lab of its own",
        commands=("gpulab run --backend kind --name another-name",),
    )


def _remove_empty(*folders: Path) -> None:
    with suppress(OSError):
        for each in folders:
            each.rmdir()
