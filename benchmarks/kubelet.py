"""The kubelet's side of the sockets, with nothing on the way that takes time of its own.

Messages stay as the bytes that came, so that a figure holds the plugin and gRPC, and not what a
kubelet makes of a list.
"""

import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

# Read when gRPC is imported: the benchmark starts child processes.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

import grpc

from fake_plugin.api.deviceplugin_pb2 import Empty, ListAndWatchResponse, RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import (
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from fake_plugin.listener import target
from lab.core.errors import TimedOut

_CALLS: Final = "/v1beta1.DevicePlugin"
_LOOK_SECONDS: Final = 0.2
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0))

#: Without serializers, a call takes and gives bytes.
_Called: TypeAlias = "grpc.UnaryUnaryMultiCallable[bytes, bytes]"
_Streamed: TypeAlias = "grpc.UnaryStreamMultiCallable[bytes, bytes]"


@dataclass(frozen=True)
class Message:
    """A list as it came: when, by the monotonic clock in seconds, and its bytes."""

    at: float
    raw: bytes

    def ids(self) -> list[str]:
        """Return the devices."""
        return [device.ID for device in ListAndWatchResponse.FromString(self.raw).devices]

    def unhealthy(self) -> int:
        """Return how many devices are unhealthy."""
        return self.raw.count(b"Unhealthy")


@dataclass
class Plugin:
    """One registered resource: `at` is when Register was answered, by the monotonic clock."""

    resource: str
    at: float
    channel: grpc.Channel
    lists: "queue.SimpleQueue[Message]" = field(default_factory=queue.SimpleQueue)

    def watch(self) -> None:
        """Take in lists until the stream ends."""
        watch: _Streamed = self.channel.unary_stream(f"{_CALLS}/ListAndWatch")
        try:
            for raw in watch(b""):
                self.lists.put(Message(time.monotonic(), raw))
        except (grpc.RpcError, ValueError):
            # The end of the plugin, or of the channel.
            return

    def next_list(self, seconds: float = 10.0) -> Message:
        """Return the next list; raise `TimedOut` where none comes."""
        try:
            return self.lists.get(timeout=seconds)
        except queue.Empty:
            raise TimedOut(f"no list came within {seconds:g} s", where=self.resource) from None

    def allocate_seconds(self, request: bytes) -> float:
        """Call Allocate with a request that is bytes already; return the seconds it took."""
        call: _Called = self.channel.unary_unary(f"{_CALLS}/Allocate")
        started = time.monotonic()
        call(request, timeout=30.0)
        return time.monotonic() - started


class Kubelet(RegistrationServicer):
    """Accepts every plugin that registers on `folder`, and watches its lists."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plugins: dict[str, Plugin] = {}
        self._changed = threading.Condition()
        self._workers = ThreadPoolExecutor(8)
        self._server = grpc.server(self._workers)
        add_RegistrationServicer_to_server(self, self._server)
        self._server.add_insecure_port(target(folder / "kubelet.sock"))
        self._server.start()

    def Register(  # noqa: N802 - the name is that of the API
        self, request: RegisterRequest, context: grpc.ServicerContext
    ) -> Empty:
        """Dial the plugin, ask for its options and answer, as a kubelet does; then watch it."""
        del context
        socket = target(self._folder / request.endpoint)
        channel = grpc.insecure_channel(socket, options=_OPTIONS)
        options: _Called = channel.unary_unary(f"{_CALLS}/GetDevicePluginOptions")
        options(b"", timeout=10.0)
        plugin = Plugin(request.resource_name, time.monotonic(), channel)
        threading.Thread(target=plugin.watch, daemon=True).start()
        with self._changed:
            self._plugins[plugin.resource] = plugin
            self._changed.notify_all()
        return Empty()

    def wait_for_plugins(
        self, count: int, is_alive: Callable[[], bool], seconds: float = 30.0
    ) -> list[Plugin]:
        """Return the plugins once as many resources have registered.

        Raises `TimedOut` where they do not, at once where the plugin is no longer alive.
        """
        end = time.monotonic() + seconds
        with self._changed:
            while len(self._plugins) < count:
                if not is_alive() or time.monotonic() > end:
                    raise TimedOut(
                        f"{len(self._plugins)} of {count} resources registered",
                        where=str(self._folder),
                    )
                self._changed.wait(_LOOK_SECONDS)
            return list(self._plugins.values())

    def stop(self) -> None:
        """Break all connections."""
        self._server.stop(None).wait()
        for plugin in self._plugins.values():
            plugin.channel.close()
        self._workers.shutdown()
