"""A device plugin that never calls Register: the kubelet finds its socket, and asks what it is.

It runs in the plugin's image, where there is no lab: `python -c PROGRAM FOLDER RESOURCE COUNT`.
The folder is the kubelet's `plugins_registry`, which it watches; a socket that goes is a plugin
that goes. Names and numbers of the messages are those of the public API (k8s.io/kubelet,
pkg/apis/pluginregistration/v1/api.proto).
"""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import grpc
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from fake_plugin.api import deviceplugin_pb2 as api
from fake_plugin.api.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    add_DevicePluginServicer_to_server,
)

SERVICE: Final = "pluginregistration.Registration"
_STRING, _BOOL = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BOOL
_ONE, _MANY = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
_MESSAGES: Final = {
    "InfoRequest": (),
    "PluginInfo": (
        ("type", _STRING, _ONE),
        ("name", _STRING, _ONE),
        ("endpoint", _STRING, _ONE),
        ("supported_versions", _STRING, _MANY),
    ),
    "RegistrationStatus": (("plugin_registered", _BOOL, _ONE), ("error", _STRING, _ONE)),
    "RegistrationStatusResponse": (),
}
#: What the lab's own plugin sets, too.
_VARIABLE: Final = "GPULAB_VISIBLE_DEVICES"


def message_class(name: str) -> type[Message]:
    """Return the class of one of the messages of that API."""
    file = FileDescriptorProto(name="pluginregistration.proto", package="pluginregistration")
    for each, fields in _MESSAGES.items():
        message = file.message_type.add(name=each)
        for number, (key, kind, label) in enumerate(fields, 1):
            message.field.add(name=key, number=number, type=kind, label=label)
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"pluginregistration.{name}"))


class Devices(DevicePluginServicer):
    """Serves so many healthy devices until it is over."""

    def __init__(self, count: int, over: threading.Event) -> None:
        self._list = api.ListAndWatchResponse(
            devices=[api.Device(ID=f"found-{number}", health="Healthy") for number in range(count)]
        )
        self._over = over

    def GetDevicePluginOptions(  # noqa: N802 - the API's name
        self, request: api.Empty, context: grpc.ServicerContext
    ) -> api.DevicePluginOptions:
        """Offer nothing beyond devices."""
        del request, context
        return api.DevicePluginOptions()

    def ListAndWatch(  # noqa: N802 - the API's name
        self, request: api.Empty, context: grpc.ServicerContext
    ) -> Iterator[api.ListAndWatchResponse]:
        """Send the list once, and keep the stream open."""
        del request, context
        yield self._list
        self._over.wait()

    def Allocate(  # noqa: N802 - the API's name
        self, request: api.AllocateRequest, context: grpc.ServicerContext
    ) -> api.AllocateResponse:
        """Tell each container its devices in a variable."""
        del context
        return api.AllocateResponse(
            container_responses=[
                api.ContainerAllocateResponse(envs={_VARIABLE: ",".join(each.devices_ids)})
                for each in request.container_requests
            ]
        )


class Found(grpc.GenericRpcHandler):
    """Tells the kubelet what it has found, and prints what the kubelet makes of it."""

    def __init__(self, resource: str) -> None:
        self._info = message_class("PluginInfo")(
            type="DevicePlugin", name=resource, supported_versions=["v1beta1"]
        )
        self._status = message_class("RegistrationStatus")
        self._response = message_class("RegistrationStatusResponse")()

    def service(
        self, call: grpc.HandlerCallDetails
    ) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        """Return what answers a call."""
        answering = {
            f"/{SERVICE}/GetInfo": self._asked,
            f"/{SERVICE}/NotifyRegistrationStatus": self._told,
        }.get(call.method)
        return answering and grpc.unary_unary_rpc_method_handler(answering)

    def _asked(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        del request, context
        print("the kubelet asks what this is", flush=True)  # noqa: T201 - what it is for
        return self._info.SerializeToString()

    def _told(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        del context
        status = MessageToDict(self._status.FromString(request))
        print(f"the kubelet says: {status.get('error', 'it is taken')}", flush=True)  # noqa: T201 - what it is for
        return self._response.SerializeToString()


def serve(socket: Path, resource: str, count: int, over: threading.Event) -> None:
    """Serve devices on a socket until it is over, and remove the socket."""
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Found(resource),))
    add_DevicePluginServicer_to_server(Devices(count, over), server)
    server.add_insecure_port(f"unix://{socket}")
    server.start()
    over.wait()
    server.stop(1).wait()
    socket.unlink(missing_ok=True)


def main(arguments: Sequence[str]) -> None:
    """Serve until the pod ends."""
    folder, resource, count = arguments
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    socket = Path(folder) / f"{resource.replace('/', '-')}.sock"
    serve(socket, resource, int(count), over)


if __name__ == "__main__":
    main(sys.argv[1:])
