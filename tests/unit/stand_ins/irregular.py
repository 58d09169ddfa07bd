"""What may lie in a file's place and is none."""

import os
import socket
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Final


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)


def _pipe(path: Path) -> None:
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _device(path: Path) -> None:
    """Put a device there that says something and has no end."""
    path.unlink(missing_ok=True)
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    path.unlink(missing_ok=True)
    # The name of a socket may have 107 bytes, and a test's folder has more.
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)


#: Each takes the path of a file, which may be there.
IRREGULAR: Final[tuple[Callable[[Path], None], ...]] = (_folder, _pipe, _device, _socket)
