"""A small device plugin that does as a test says."""

# ruff: noqa: N802 - the names of the calls are those of the API

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    ContainerPreferredAllocationResponse,
    Device,
    DevicePluginOptions,
    Empty,
    ListAndWatchResponse,
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
from lab.embedded.kubelet.connection import target

T = TypeVar("T")
RESOURCE = "example.com/device"


def healthy(*ids: str, numa: int | None = None) -> list[Device]:
    """Return healthy devices, near to one NUMA node where it is given."""
    nodes = None if numa is None else TopologyInfo(nodes=[NUMANode(ID=numa)])
    return [Device(ID=each, health="Healthy", topology=nodes) for each in ids]


def unhealthy(*ids: str) -> list[Device]:
    """Return unhealthy devices."""
    return [Device(ID=each, health="Unhealthy") for each in ids]


def allocated(request: AllocateRequest) -> AllocateResponse:
    """Return an answer that names the devices of each container."""
    return AllocateResponse(
        container_responses=[
            ContainerAllocateResponse(envs={"DEVICES": ",".join(sorted(each.devices_ids))})
            for each in request.container_requests
        ]
    )


@dataclass
class Script:
    """What a plugin answers; a text is an error with status UNKNOWN."""

    options: DevicePluginOptions | str = field(default_factory=DevicePluginOptions)
    allocate: Callable[[AllocateRequest], AllocateResponse | str] = allocated
    prefer: Callable[[PreferredAllocationRequest], list[str] | str | None] = lambda _: None
    pre_start: Callable[[PreStartContainerRequest], str] = lambda _: ""
    before_options: Callable[[], object] = lambda: None


class ScriptedPlugin(DevicePluginServicer):
    """Listens on its socket from the start on; says only what it is told to."""

    def __init__(self, folder: Path, name: str = "plugin.sock") -> None:
        self.path = folder / name
        self.script = Script()
        self._lists: list[ListAndWatchResponse | str] = []
        self._changed = threading.Condition()
        self._stopping = False
        self._workers = ThreadPoolExecutor(8)
        self._server = grpc.server(self._workers)
        add_DevicePluginServicer_to_server(self, self._server)
        self._server.add_insecure_port(target(self.path))
        self._server.start()

    def register(
        self,
        resource: str = RESOURCE,
        *,
        version: str = "v1beta1",
        endpoint: str | None = None,
        seconds: float = 20,
    ) -> None:
        """Register with the kubelet of the folder; raise grpc.RpcError where it says no."""
        request = RegisterRequest(
            version=version,
            endpoint=self.path.name if endpoint is None else endpoint,
            resource_name=resource,
        )
        register_with(self.path.with_name("kubelet.sock"), request, seconds)

    def list(self, *devices: list[Device]) -> None:
        """Send a list."""
        self._say(ListAndWatchResponse(devices=[each for some in devices for each in some]))

    def end_stream(self, error: str = "enough") -> None:
        """End the streams with an error, as soon as there are any."""
        self._say(error)

    def stop(self) -> None:
        """End everything, as a process that is killed; once is enough."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._server.stop(None).wait()
        self._workers.shutdown()
        self.path.unlink(missing_ok=True)

    def GetDevicePluginOptions(
        self, request: Empty, context: grpc.ServicerContext
    ) -> DevicePluginOptions:
        """Answer by the script."""
        del request
        self.script.before_options()
        return _answer(self.script.options, context)

    def ListAndWatch(
        self, request: Empty, context: grpc.ServicerContext
    ) -> Iterator[ListAndWatchResponse]:
        """Send the newest list, and each that follows, until the end of either side."""
        del request
        context.add_callback(self._wake)
        sent = max(len(self._lists) - 1, 0)
        while self._has_more_than(sent, context):
            yield _answer(self._lists[sent], context)
            sent += 1

    def GetPreferredAllocation(
        self, request: PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> PreferredAllocationResponse:
        """Answer by the script."""
        preferred = self.script.prefer(request)
        if preferred is None:
            return PreferredAllocationResponse()
        ids = _answer(preferred, context)
        return PreferredAllocationResponse(
            container_responses=[ContainerPreferredAllocationResponse(deviceIDs=ids)]
        )

    def Allocate(self, request: AllocateRequest, context: grpc.ServicerContext) -> AllocateResponse:
        """Answer by the script."""
        return _answer(self.script.allocate(request), context)

    def PreStartContainer(
        self, request: PreStartContainerRequest, context: grpc.ServicerContext
    ) -> PreStartContainerResponse:
        """Answer by the script."""
        return _answer(self.script.pre_start(request) or PreStartContainerResponse(), context)

    def _say(self, says: ListAndWatchResponse | str) -> None:
        with self._changed:
            self._lists.append(says)
            self._changed.notify_all()

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _has_more_than(self, sent: int, context: grpc.ServicerContext) -> bool:
        """Wait for another list, or the end; tell which it is."""

        def is_over() -> bool:
            return self._stopping or not context.is_active()

        with self._changed:
            self._changed.wait_for(lambda: len(self._lists) > sent or is_over())
            return not is_over()


def _answer(scripted: T | str, context: grpc.ServicerContext) -> T:
    if isinstance(scripted, str):
        context.abort(grpc.StatusCode.UNKNOWN, scripted)
    return scripted


def register_with(kubelet: Path, request: RegisterRequest, seconds: float = 20) -> None:
    """Send a Register; raise grpc.RpcError where the kubelet says no."""
    options = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0))
    with grpc.insecure_channel(target(kubelet), options=options) as channel:
        RegistrationStub(channel).Register(request, seconds)


def refusal(call: Callable[[], None]) -> str:
    """Return the words of a refusal, which has the status UNKNOWN."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    assert caught.value.code() is grpc.StatusCode.UNKNOWN
    return str(caught.value.details())
