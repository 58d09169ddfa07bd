"""A device plugin that keeps the contract but for one vice: `bad_plugin.py FOLDER VICE`.

Every vice is one that a plugin in earnest had, or could easily have.
"""

# ruff: noqa: N802 - the names of the calls are those of the API

import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NoReturn

import grpc

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    CDIDevice,
    ContainerAllocateResponse,
    ContainerPreferredAllocationResponse,
    Device,
    DevicePluginOptions,
    DeviceSpec,
    Empty,
    ListAndWatchResponse,
    Mount,
    NUMANode,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
    PreStartContainerResponse,
    RegisterRequest,
    TopologyInfo,
)
from fake_plugin.api.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)

LOOK_SECONDS: Final = 0.02
PAUSE_SECONDS: Final = 0.2
WORKERS: Final = 8
REFUSED_FOR_GOOD: Final = ("old-version", "native-name")


class Service(DevicePluginServicer):
    """What a kubelet calls."""

    def __init__(self, vice: str, lives: int) -> None:
        self.vice = vice
        self._lists = vice != "no-list" and (vice != "lists-once" or lives == 1)
        self.stopping = threading.Event()
        self._streams = 0
        self._began = time.monotonic()
        self._asked = set[str]()
        self._busy = threading.Lock()
        prefix = uuid.uuid4().hex if vice == "new-ids" else "gpu"
        self._ids = [f"{prefix}-{number}" for number in range(4)]

    def devices(self) -> list[Device]:
        """Return the devices of every list, the first of which is unhealthy."""
        if self.vice == "no-devices" or self._looks_still():
            return []
        ids, health, numa = list(self._ids), "Healthy", 0
        match self.vice:
            case "same-id":
                ids.append(ids[0])
            case "no-id":
                ids.append("")
            case "lower-case":
                health = "healthy"
            case "numa-below-0":
                numa = -1
            case "large-list":
                ids = [f"{number:04000}" for number in range(1100)]
        topology = TopologyInfo(nodes=[NUMANode(ID=numa)])
        # Nobody may ask for it: the plugin knows of no such device then.
        broken = Device(ID="broken", health="Unhealthy")
        return [broken, *(Device(ID=each, health=health, topology=topology) for each in ids)]

    def GetDevicePluginOptions(
        self, request: Empty, context: grpc.ServicerContext
    ) -> DevicePluginOptions:
        """Offer everything."""
        del request
        # gRPC may end a cancelled stream before its thread comes back to it: they are counted.
        is_full = self.vice == "keeps-streams" and self._streams > WORKERS
        if self.vice == "silent-about-options" or is_full:
            threading.Event().wait()
        if self.vice == "no-options":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "what options?")
        return DevicePluginOptions(get_preferred_allocation_available=True, pre_start_required=True)

    def ListAndWatch(
        self, request: Empty, context: grpc.ServicerContext
    ) -> Iterator[ListAndWatchResponse]:
        """Send one list, and keep the stream open."""
        del request
        over = threading.Event()
        context.add_callback(over.set)
        self._streams += 1
        if self.vice == "one-stream" and self._streams > 1:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, "somebody watches already")
        if self.vice == "ends-later":
            os._exit(5)
        try:
            if self._lists:
                yield ListAndWatchResponse(devices=self.devices())
            if self._looks_still():
                time.sleep(PAUSE_SECONDS)
                yield ListAndWatchResponse(devices=self.devices())
            while self.vice != "ends-stream" and not (self.stopping.is_set() or over.is_set()):
                time.sleep(LOOK_SECONDS)
        finally:
            if self.vice != "keeps-streams":
                self._streams -= 1

    def GetPreferredAllocation(
        self, request: PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> PreferredAllocationResponse:
        """Prefer what must be there, and then the first."""
        del context
        (asked,) = request.container_requests
        must = asked.must_include_deviceIDs
        rest = [each for each in asked.available_deviceIDs if each not in must]
        ids = [*must, *rest][: asked.allocation_size]
        match self.vice:
            case "prefers-none":
                ids = []
            case "prefers-foreign":
                ids[0] = "somebody-else's"
            case "prefers-twice":
                ids[-1] = ids[0]
            case "prefers-others":
                ids = list(asked.available_deviceIDs[: asked.allocation_size])
        return PreferredAllocationResponse(
            container_responses=[ContainerPreferredAllocationResponse(deviceIDs=ids)]
        )

    def Allocate(self, request: AllocateRequest, context: grpc.ServicerContext) -> AllocateResponse:
        """Give a variable, a mount, a device file and a CDI device."""
        ids = [each for one in request.container_requests for each in one.devices_ids]
        if self.vice == "one-at-a-time":
            if not self._busy.acquire(blocking=False):
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "one at a time, please")
            time.sleep(PAUSE_SECONDS)
            self._busy.release()
        if set(ids) - set(self._ids) and self.vice != "takes-all":
            if self.vice == "crashes":
                os._exit(3)
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no such device")
        if self.vice == "keeps-accounts" and self._asked & set(ids):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "that one is taken")
        self._asked.update(ids)
        return AllocateResponse(container_responses=[self._answer()] * self._answers(request))

    def PreStartContainer(
        self, request: PreStartContainerRequest, context: grpc.ServicerContext
    ) -> PreStartContainerResponse:
        """Do nothing."""
        del request
        if self.vice == "fails-pre-start":
            context.abort(grpc.StatusCode.INTERNAL, "the device cannot be reset")
        return PreStartContainerResponse()

    def _looks_still(self) -> bool:
        return self.vice == "devices-later" and time.monotonic() < self._began + PAUSE_SECONDS

    def _answers(self, request: AllocateRequest) -> int:
        match self.vice:
            case "answers-nothing":
                return 0
            case "one-per-device":
                return sum(len(each.devices_ids) for each in request.container_requests)
            case "one-for-all":
                return 1
        return len(request.container_requests)

    def _answer(self) -> ContainerAllocateResponse:
        vice = self.vice
        return ContainerAllocateResponse(
            envs={"GPU=0" if vice == "odd-variable" else "GPU": "0"},
            mounts=[
                Mount(
                    container_path="gpu" if vice == "relative-mount" else "/gpu",
                    host_path="tmp" if vice == "relative-host-path" else "/tmp",  # noqa: S108 - never made
                )
            ],
            devices=[
                DeviceSpec(
                    container_path="dev/gpu" if vice == "relative-device" else "/dev/gpu",
                    host_path="/dev/null",
                    permissions="rx" if vice == "odd-permissions" else "rw",
                )
            ],
            cdi_devices=[CDIDevice(name="gpu0" if vice == "short-cdi-name" else "a.b/gpu=0")],
        )


class Plugin:
    """The process: listens, registers, and looks what becomes of the kubelet's socket."""

    def __init__(self, folder: Path, vice: str) -> None:
        self.vice = vice
        self._folder = folder
        self._kubelet = folder / "kubelet.sock"
        self._lives = 0
        self._listen()

    def run(self) -> NoReturn:
        """Serve for ever."""
        if self.vice == "fails-on-leftover" and len(list(self._folder.glob("bad*.sock"))) > 1:
            sys.exit("bind: address already in use")
        self._register()
        if self.vice == "registers-twice":
            self._register()
        before, foreign, lost = self._age_of_kubelet(), self._foreign(), 0
        while True:
            time.sleep(LOOK_SECONDS)
            now = self._age_of_kubelet()
            if now not in {before, None}:
                before = now
                self._meet_new_kubelet()
            if self.vice == "any-file" and self._foreign() != foreign:
                foreign = self._foreign()
                self._register()
            if self.vice == "ends-with-file" and self._foreign() != foreign:
                os._exit(1)
            lost = 0 if self._socket.exists() else lost + 1
            if lost > 1:
                self._miss_socket()

    def end(self) -> NoReturn:
        """End as SIGTERM asks to."""
        if self.vice == "leaves-socket":
            os._exit(0)
        self._service.stopping.set()
        self._server.stop(0).wait()
        self._socket.unlink(missing_ok=True)
        os._exit(0)

    def _listen(self) -> None:
        self._lives += 1
        length = 68 if self.vice == "long-endpoint" else 1
        colour = "\x1b[31m" if self.vice == "coloured-endpoint" else ""
        self._socket = self._folder / f"bad{colour}-{os.getpid()}-{self._lives:0{length}}.sock"
        self._service = Service(self.vice, self._lives)
        self._server = grpc.server(ThreadPoolExecutor(WORKERS))
        add_DevicePluginServicer_to_server(self._service, self._server)
        if self.vice != "listens-late":
            self._bind()

    def _bind(self) -> None:
        self._server.add_insecure_port(f"unix:{self._socket}")
        self._server.start()

    def _register(self) -> None:
        request = RegisterRequest(
            version="v1alpha" if self.vice == "old-version" else "v1beta1",
            endpoint=self._endpoint(),
            resource_name="gpu" if self.vice == "native-name" else "example.com/gpu",
        )
        if self.vice == "never-registers":
            return
        if self.vice == "listens-late":
            threading.Timer(PAUSE_SECONDS, self._bind).start()
        while not self._is_taken(request):
            match self.vice:
                case "ends-well":
                    os._exit(0)
                case "ends-ill":
                    os._exit(1)
                case "gives-up":
                    return
                case "spins":
                    continue
                case _ if self.vice in REFUSED_FOR_GOOD:
                    os._exit(1)
            time.sleep(PAUSE_SECONDS)

    def _endpoint(self) -> str:
        match self.vice:
            case "path":
                return f"./{self._socket.name}"
            case "nul-in-endpoint":
                return f"{self._socket.name}\0hidden"
        return self._socket.name

    def _is_taken(self, request: RegisterRequest) -> bool:
        options = (("grpc.use_local_subchannel_pool", 1),)
        with grpc.insecure_channel(f"unix:{self._kubelet}", options=options) as channel:
            try:
                RegistrationStub(channel).Register(request, timeout=20)
            except grpc.RpcError as problem:
                sys.stderr.write(f"{problem}\n")
                return False
        return True

    def _meet_new_kubelet(self) -> None:
        match self.vice:
            case "deaf":
                return
            case "ends-with-kubelet":
                os._exit(0)
            case "keeps-socket":
                self._register()
                return
        self._server.stop(0)
        self._listen()
        self._register()

    def _miss_socket(self) -> None:
        match self.vice:
            case "dies-with-socket":
                os._exit(1)
            case "drops-with-socket":
                self._server.stop(0)
            case "brings-back":
                self._server.stop(0)
                self._listen()
                self._register()

    def _age_of_kubelet(self) -> int | None:
        try:
            # Not the inode: a new socket may get that of the one before.
            return self._kubelet.stat().st_ctime_ns
        except FileNotFoundError:
            return None

    def _foreign(self) -> set[str]:
        names = {each.name for each in self._folder.iterdir()}
        return {each for each in names if not each.startswith(("kubelet", "bad", "."))}


def main() -> NoReturn:
    """Run the plugin that the command line asks for."""
    _, folder, vice = sys.argv
    plugin = Plugin(Path(folder), vice)
    if vice == "ignores-sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: plugin.end())
    plugin.run()


if __name__ == "__main__":
    main()
