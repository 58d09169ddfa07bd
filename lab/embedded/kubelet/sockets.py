"""A gRPC server on a Unix socket that stays behind when the server ends, as a killed process's."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc

from lab.core.errors import NotReady
from lab.embedded.kubelet.connection import target

_FOLDER_MODE: Final = 0o750
#: What the kernel has room for, sun_path in sys/un.h, without its NUL: Linux 107, macOS 103.
_PATH_LIMIT: Final = 107 if os.uname().sysname == "Linux" else 103

_WORKERS: Final = 8
#: Shorter than any name that it is exchanged for, since the path of a socket may not be long.
_FIRST_NAME: Final = ".s"


class SocketServer:
    """Listens at `path` from the start on; a server is started once."""

    def __init__(self, path: Path, add: Callable[[grpc.Server], None]) -> None:
        """`add` adds the services. Raises `NotReady` where the socket cannot be made."""
        self.path = path
        make_folder(path.parent)
        _check_length(path)
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix=path.parent.name)
        self._server = grpc.server(self._workers)
        add(self._server)
        # The library removes the socket when the server ends, by the name that it was made under.
        first = path.with_name(_FIRST_NAME)
        try:
            self._server.add_insecure_port(target(first))
        except RuntimeError as problem:
            self._workers.shutdown()
            raise NotReady(
                "a socket cannot be listened on",
                where=str(path),
                seen=str(problem),
                remedy="give the kubelet a folder that it may write to",
            ) from problem
        self._server.start()
        first.replace(path)

    def stop(self) -> None:
        """Break every call, and answer no other."""
        self._server.stop(None).wait()

    def wait(self) -> None:
        """Wait for calls that were broken to come to their end."""
        self._workers.shutdown()


def make_folder(folder: Path) -> None:
    """Make the folder, as a kubelet does, where it is not there; raise `NotReady`."""
    try:
        folder.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as problem:
        raise NotReady(
            "the folder for sockets of a kubelet cannot be made",
            where=str(folder),
            seen=problem.strerror or "",
            remedy="give it the path of a folder, or of one that can be made",
        ) from problem


def _check_length(path: Path) -> None:
    length = len(os.fsencode(path))
    if length > _PATH_LIMIT:
        raise NotReady(
            f"the kubelet's socket would have a path of {length} bytes; "
            f"the system's limit is {_PATH_LIMIT}",
            where=str(path.parent),
            remedy=f"use a folder whose path is at least {length - _PATH_LIMIT} bytes shorter",
        )
