"""The kubelet of the benchmark: the lab's own, and streams that take no time of their own.

Plugins register with the lab's device manager. What they say afterwards is taken in here, as the
bytes that came: a figure holds the plugin and gRPC, and not what a kubelet makes of a list.
"""

import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

# Read when gRPC is imported: child processes are started, and plugins end in mid-stream.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

from fake_plugin.api.deviceplugin_pb2 import ListAndWatchResponse
from lab.core.errors import TimedOut
from lab.embedded.kubelet.connection import target
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings

_CALLS: Final = "/v1beta1.DevicePlugin"
_LOOK_SECONDS: Final = 0.005
_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0))

#: Without serializers, a call takes and gives bytes.
_Called: TypeAlias = "grpc.UnaryUnaryMultiCallable[bytes, bytes]"
_Streamed: TypeAlias = "grpc.UnaryStreamMultiCallable[bytes, bytes]"


@dataclass(frozen=True)
class Message:
    """A list as it came: its bytes, and when, in seconds of the monotonic clock and of `time`."""

    raw: bytes
    at: float = field(default_factory=time.monotonic)
    wall: float = field(default_factory=time.time)

    def ids(self) -> list[str]:
        """Return the devices."""
        return [device.ID for device in ListAndWatchResponse.FromString(self.raw).devices]

    def unhealthy(self) -> int:
        """Return how many devices are unhealthy."""
        return self.raw.count(b"Unhealthy")


@dataclass
class Plugin:
    """One registered resource, watched from `watch` on."""

    resource: str
    channel: grpc.Channel
    lists: "queue.SimpleQueue[Message]" = field(default_factory=queue.SimpleQueue)

    @classmethod
    def watched(cls, resource: str, socket: Path) -> "Plugin":
        """Connect to a plugin, and watch it in a thread until its stream ends."""
        plugin = cls(resource, grpc.insecure_channel(target(socket), options=_OPTIONS))
        threading.Thread(target=plugin.watch, daemon=True).start()
        return plugin

    def watch(self) -> None:
        """Take in lists until the stream ends."""
        watch: _Streamed = self.channel.unary_stream(f"{_CALLS}/ListAndWatch")
        try:
            for raw in watch(b""):
                self.lists.put(Message(raw))
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


class Kubelet:
    """Accepts every plugin that registers on `folder`, and watches its lists."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._plugins: list[Plugin] = []
        # Where the file is, upstream's library does not call Register.
        self._manager = DeviceManager(folder, Settings(deprecation_file=False))
        # The streams are opened below, by what takes the time.
        self._manager.misbehaviour.never_watches = True
        self._manager.start()

    def wait_for_plugins(
        self, count: int, is_alive: Callable[[], bool], seconds: float = 30.0
    ) -> tuple[list[Plugin], float]:
        """Return the plugins, all watched, and when the last was accepted (monotonic seconds).

        Raises `TimedOut` where fewer register, at once where the plugin is no longer alive.
        """
        end = time.monotonic() + seconds
        while len(self._manager.registrations) < count:
            if not is_alive() or time.monotonic() > end:
                raise TimedOut(
                    f"{len(self._manager.registrations)} of {count} resources registered",
                    where=str(self._folder),
                )
            time.sleep(_LOOK_SECONDS)
        self._plugins = [
            Plugin.watched(each.resource, each.path) for each in self._manager.registrations
        ]
        calls = self._manager.journal.calls("Register")
        return self._plugins, max(call.ended or end for call in calls)

    def stop(self) -> None:
        """Break all connections."""
        for plugin in self._plugins:
            plugin.channel.close()
        self._manager.stop()
