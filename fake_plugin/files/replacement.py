"""Files that are replaced whole: a reader finds the old one or the new one, and no beginning."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

#: How the names of files begin and end that are being written. Container runtimes look through
#: their folder of CDI specs all the time, and pass by what ends so.
_BEGIN: Final = ".gpulab-"
_END: Final = ".tmp"
#: Long after a file is finished, or its writer is dead.
_ABANDONED_SECONDS: Final = 60


def replace(path: Path, content: Iterable[str], mode: int, *, durable: bool = False) -> None:
    """Put a file of that content, in pieces, and mode at `path`.

    Where it is to be durable, a node that loses its power has the old file or the new one as well.
    Raises OSError; what was there then stays.
    """
    # Two plugins, the old and the new one of a rolling update, may write at once.
    beside = path.with_name(f"{_BEGIN}{os.urandom(4).hex()}{_END}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.writelines(content)
            os.fchmod(file.fileno(), mode)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def is_abandoned(path: Path) -> bool:
    """Tell whether a file is the beginning of one, left by a writer that was killed."""
    if not (path.name.startswith(_BEGIN) and path.suffix == _END):
        return False
    try:
        return time.time() - path.lstat().st_mtime > _ABANDONED_SECONDS
    except FileNotFoundError:
        return False


def remove_abandoned(folder: Path) -> None:
    """Remove the files of a folder that are abandoned; raises OSError."""
    for path in folder.iterdir():
        if is_abandoned(path):
            path.unlink(missing_ok=True)
