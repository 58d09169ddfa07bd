"""A kubelet's device manager as a plugin sees it, over real sockets, in this process.

It does what Kubernetes 1.34 to 1.36 do: dial the plugin while it handles Register, ask for the
options on that connection, answer, then watch the list of devices. A start removes every socket
of the folder. What it was told is in `calls`, `devices` and `registered`.
"""

import contextlib
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import grpc

from fake_plugin.api.deviceplugin_pb2 import DevicePluginOptions, Empty, RegisterRequest
from fake_plugin.api.deviceplugin_pb2_grpc import (
    DevicePluginStub,
    RegistrationServicer,
    add_RegistrationServicer_to_server,
)
from fake_plugin.listener import target

#: A real kubelet takes 10.
DIAL_SECONDS: Final = 0.5
CHANNEL_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)


def wait_until(what: str, holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Return as soon as `holds`; fail with `what` after the seconds. The tests' only wait."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(0.005)


@dataclass
class Behaviour:
    """What this kubelet does otherwise than a well one."""

    #: The text of a refusal, with {} for the name of the plugin's socket.
    refuses: str = ""
    never_watches: bool = False
    keeps_sockets: bool = False
    #: Register does not return before this is set.
    released: threading.Event | None = None
    #: Called when Register is.
    on_register: Callable[[], None] = lambda: None


@dataclass
class Connection:
    """One plugin that registered: its connection, options, and the lists that it sent."""

    request: RegisterRequest
    channel: grpc.Channel
    options: DevicePluginOptions
    lists: list[dict[str, str]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def plugin(self) -> DevicePluginStub:
        """Return the plugin, to be called."""
        return DevicePluginStub(self.channel)

    def watch(self) -> None:
        """Take in lists until the stream ends."""
        try:
            for message in self.plugin.ListAndWatch(Empty()):
                self.lists.append({device.ID: device.health for device in message.devices})
        except (grpc.RpcError, ValueError):
            pass
        self.ended.set()


class Kubelet(RegistrationServicer):
    """A kubelet on `folder`, to be started, stopped and restarted."""

    def __init__(self, folder: Path, behaviour: Behaviour | None = None) -> None:
        self.folder = folder
        self.behaviour = behaviour or Behaviour()
        self.registered: list[Connection] = []
        self.requests: list[RegisterRequest] = []
        self._server: grpc.Server | None = None
        self._workers: list[ThreadPoolExecutor] = []
        self._watches: list[threading.Thread] = []

    @property
    def socket(self) -> Path:
        """Return where this kubelet listens."""
        return self.folder / "kubelet.sock"

    def start(self) -> None:
        """Remove all sockets and listen, as a kubelet does when it starts."""
        for path in () if self.behaviour.keeps_sockets else self.folder.iterdir():
            # A plugin may remove its own meanwhile.
            with contextlib.suppress(FileNotFoundError):
                if stat.S_ISSOCK(path.lstat().st_mode):
                    path.unlink()
        workers = ThreadPoolExecutor(8)
        self._workers.append(workers)
        self._server = grpc.server(workers)
        add_RegistrationServicer_to_server(self, self._server)
        self._server.add_insecure_port(target(self.socket))
        self._server.start()

    def stop(self) -> None:
        """End as a killed process does: every connection breaks, nothing is tidied up."""
        if self._server:
            self._server.stop(None).wait()
            self._server = None
        if self.behaviour.released:
            self.behaviour.released.set()
        for connection in self.registered:
            connection.channel.close()
        for watch in self._watches:
            watch.join()
        for workers in self._workers:
            workers.shutdown()
        self._workers.clear()
        self._watches.clear()

    def restart(self) -> None:
        """Stop and start."""
        self.stop()
        self.start()

    def Register(  # noqa: N802 - the name is that of the API
        self, request: RegisterRequest, context: grpc.ServicerContext
    ) -> Empty:
        """Register a plugin, or fail with status UNKNOWN, as the kubelet does."""
        self.requests.append(request)
        self.behaviour.on_register()
        if self.behaviour.released:
            self.behaviour.released.wait()
        if not context.is_active():
            context.abort(grpc.StatusCode.CANCELLED, "nobody is told any more")
        if self.behaviour.refuses:
            text = self.behaviour.refuses.format(request.endpoint)
            context.abort(grpc.StatusCode.UNKNOWN, text)
        channel = grpc.insecure_channel(
            target(self.folder / request.endpoint), options=CHANNEL_OPTIONS
        )
        try:
            grpc.channel_ready_future(channel).result(DIAL_SECONDS)
        except grpc.FutureTimeoutError:
            channel.close()
            context.abort(grpc.StatusCode.UNKNOWN, "failed to dial device plugin")
        options = DevicePluginStub(channel).GetDevicePluginOptions(Empty())
        connection = Connection(request, channel, options)
        self.registered.append(connection)
        if not self.behaviour.never_watches:
            watch = threading.Thread(target=connection.watch)
            self._watches.append(watch)
            watch.start()
        return Empty()

    def latest(self, resource: str) -> Connection:
        """Return the newest connection of a resource; IndexError where there is none."""
        return [each for each in self.registered if each.request.resource_name == resource][-1]

    def wait_for_devices(self, resource: str, count: int, seconds: float = 10.0) -> Connection:
        """Wait until the newest connection of a resource lists `count` healthy devices."""

        def listed() -> bool:
            all_of_it = [c for c in self.registered if c.request.resource_name == resource]
            if not all_of_it or all_of_it[-1].ended.is_set() or not all_of_it[-1].lists:
                return False
            return [*all_of_it[-1].lists[-1].values()].count("Healthy") == count

        wait_until(f"{count} healthy {resource}", listed, seconds)
        return self.latest(resource)
