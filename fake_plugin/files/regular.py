"""Files that are read where anything may lie in their place."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegular(OSError):
    """A folder, a pipe, a socket or a device is where a file is to be."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it, without waiting for anybody.

    Raises `NotRegular` for what is none: a pipe has no end without a writer, and a device none at
    all. Raises OSError as `open` does.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotRegular("it is no regular file")
    return open(path, "rb", opener=_at_once)


def _at_once(path: str, flags: int) -> int:
    # By now it may be a pipe, whose writer would be waited for.
    return os.open(path, flags | os.O_NONBLOCK)
