"""One gRPC server on one socket for one resource, from listening to closed; never used again."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import quote

import grpc

from fake_plugin.api.deviceplugin_pb2_grpc import add_DevicePluginServicer_to_server
from fake_plugin.files.inode import Inode
from fake_plugin.resources.resource import Resource
from fake_plugin.serving import interceptor, streams
from fake_plugin.serving.interceptor import Interceptor, Switchboard
from fake_plugin.serving.service import Service
from fake_plugin.serving.sockets import SocketNames

#: Threads are made as they are needed: streams and held calls leave eight for the others.
_WORKERS: Final = streams.MOST + interceptor.MOST_HELD + 8
_CLOSE_SECONDS: Final = 0.5


class Listener:
    """Serves a resource on a socket of its own, listening once this is made.

    Raises OSError where the socket cannot be opened.
    """

    def __init__(
        self,
        resource: Resource,
        names: SocketNames,
        switchboard: Switchboard,
        on_change: Callable[[], None],
    ) -> None:
        self.streams = streams.Streams(resource, on_change)
        self._book = switchboard.book
        self._names = names
        self.path = names.take(resource.name)
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix=resource.name)
        self._meddler = Interceptor(resource.name, self.streams, switchboard)
        self._server = grpc.server(self._workers, interceptors=[self._meddler])
        add_DevicePluginServicer_to_server(Service(resource, self.streams), self._server)
        self._listen()
        self._inode = Inode.of(self.path)

    @property
    def is_in_place(self) -> bool:
        """Whether the socket can still be found under its name."""
        return self._inode is not None and Inode.of(self.path) == self._inode

    @property
    def to_blame(self) -> frozenset[str]:
        """The IDs of the faults by which the kubelet may not have taken the resource on."""
        return frozenset(self._meddler.to_blame)

    def close(self) -> None:
        """End streams and held calls, give others half a second, remove the socket."""
        self.streams.close()
        self._book.wake()
        self._server.stop(_CLOSE_SECONDS).wait()
        self._workers.shutdown()
        self._names.give_back(self.path)

    def _listen(self) -> None:
        try:
            self._server.add_insecure_port(target(self.path))
        except RuntimeError as problem:
            self._workers.shutdown()
            self._names.give_back(self.path)
            raise OSError(str(problem)) from problem
        self._server.start()


def target(socket: Path) -> str:
    """Return the address of a socket as gRPC takes it, which reads a path as part of a URI."""
    return f"unix:{quote(str(socket))}"
