"""The sockets of the plugin in the kubelet's folder: their names, and what is left of old runs.

A name is never used twice. A kubelet of version 1.37 refuses for good a socket that was registered
before, and an older one mixes up the ends of two streams on one socket.
"""

import hashlib
import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from fake_plugin.errors import NotReady, needing

#: What the kernel has room for, sun_path in sys/un.h, without its NUL: Linux 107, macOS 103.
PATH_LIMIT: Final = 107 if os.uname().sysname == "Linux" else 103
_NAME: Final = re.compile(r"gpulab-[0-9a-f]{8}-[0-9a-f]{8}\.sock")
_CONNECT_SECONDS: Final = 1.0


def is_ours(name: str) -> bool:
    """Tell whether a file name has the form that this plugin gives to its sockets."""
    return _NAME.fullmatch(name) is not None


def answers(path: Path) -> bool:
    """Tell whether somebody listens on the socket at `path`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(str(path))
        except OSError:
            return False
        return True


class SocketNames:
    """Gives out names in `folder`, and keeps a record of them in a folder of the plugin's own.

    The record is an empty file per socket, so that two plugins, the old and the new one of a
    rolling update, can share it without a lock.
    """

    def __init__(self, folder: Path, state_dir: Path) -> None:
        """Raise `NotReady` where the path of a socket would be too long."""
        self.folder = folder
        self.kubelet = folder / "kubelet.sock"
        self._record = state_dir / "sockets"
        length = len(os.fsencode(folder / _new_name("")))
        if length > PATH_LIMIT:
            raise NotReady(
                f"a socket in this folder would have a path of {length} bytes; "
                f"the system's limit is {PATH_LIMIT}",
                where=str(folder),
                remedy=f"use a folder whose path is at least {length - PATH_LIMIT} bytes shorter",
            )
        remedy = "give --state-dir a folder of this plugin's own"
        with needing(self._record, "the record of sockets cannot be made", remedy):
            self._record.mkdir(exist_ok=True)

    def take(self, resource: str) -> Path:
        """Return the path for a new socket of the resource, and put it on record."""
        name = _new_name(resource)
        # Somebody who tidies up may have removed it since the start.
        self._record.mkdir(parents=True, exist_ok=True)
        (self._record / name).touch(exist_ok=False)
        return self.folder / name

    def give_back(self, path: Path) -> None:
        """Remove a socket of ours, if it is still there, and its record.

        What somebody put in its place stays. What the system does not let go, as on a disk that has
        become read-only, stays on record for the next start.
        """
        with suppress(OSError):
            if _is_socket(path):
                path.unlink(missing_ok=True)
            (self._record / path.name).unlink(missing_ok=True)

    def remove_leftovers(self) -> list[str]:
        """Remove the dead sockets that are on record, and return their names.

        A socket that answers belongs to a plugin that still runs, and is left alone, as is
        everything that is no socket or not on record.
        """
        removed = []
        for name in sorted(entry.name for entry in self._record.iterdir() if is_ours(entry.name)):
            path = self.folder / name
            if answers(path):
                continue
            was_there = _is_socket(path)
            self.give_back(path)
            if was_there and not _is_socket(path):
                removed.append(name)
        return removed


def _new_name(resource: str) -> str:
    digest = hashlib.sha256(resource.encode()).hexdigest()[:8]
    return f"gpulab-{digest}-{os.urandom(4).hex()}.sock"


def _is_socket(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False
