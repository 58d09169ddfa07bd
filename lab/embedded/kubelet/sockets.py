"""A gRPC server on a Unix socket that stays behind when the server ends, as a killed process's."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc

from lab.embedded.kubelet.connection import target

_WORKERS: Final = 8
#: Shorter than any name that it is exchanged for, since the path of a socket may not be long.
_FIRST_NAME: Final = ".s"


class SocketServer:
    """Listens at `path` from the start on; a server is started once."""

    def __init__(self, path: Path, add: Callable[[grpc.Server], None]) -> None:
        """`add` adds the services. Raises OSError where the socket cannot be made."""
        self.path = path
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix=path.parent.name)
        self._server = grpc.server(self._workers)
        add(self._server)
        # The library removes the socket when the server ends, by the name that it was made under.
        first = path.with_name(_FIRST_NAME)
        try:
            self._server.add_insecure_port(target(first))
        except RuntimeError as problem:
            self._workers.shutdown()
            raise OSError(str(problem)) from problem
        self._server.start()
        first.replace(path)

    def stop(self) -> None:
        """Break every call, and answer no other."""
        self._server.stop(None).wait()

    def wait(self) -> None:
        """Wait for calls that were broken to come to their end."""
        self._workers.shutdown()
