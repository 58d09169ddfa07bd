# Types of the generated services, which the generator leaves out. Written by hand.
# ruff: noqa: N802 - the names are those of the API

from collections.abc import Iterator

import grpc

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    DevicePluginOptions,
    Empty,
    ListAndWatchResponse,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
    PreStartContainerResponse,
    RegisterRequest,
)

GRPC_GENERATED_VERSION: str

class RegistrationStub:
    Register: grpc.UnaryUnaryMultiCallable[RegisterRequest, Empty]
    def __init__(self, channel: grpc.Channel) -> None: ...

class RegistrationServicer:
    def Register(self, request: RegisterRequest, context: grpc.ServicerContext) -> Empty: ...

def add_RegistrationServicer_to_server(
    servicer: RegistrationServicer, server: grpc.Server
) -> None: ...

class DevicePluginStub:
    GetDevicePluginOptions: grpc.UnaryUnaryMultiCallable[Empty, DevicePluginOptions]
    ListAndWatch: grpc.UnaryStreamMultiCallable[Empty, ListAndWatchResponse]
    GetPreferredAllocation: grpc.UnaryUnaryMultiCallable[
        PreferredAllocationRequest, PreferredAllocationResponse
    ]
    Allocate: grpc.UnaryUnaryMultiCallable[AllocateRequest, AllocateResponse]
    PreStartContainer: grpc.UnaryUnaryMultiCallable[
        PreStartContainerRequest, PreStartContainerResponse
    ]
    def __init__(self, channel: grpc.Channel) -> None: ...

class DevicePluginServicer:
    def GetDevicePluginOptions(
        self, request: Empty, context: grpc.ServicerContext
    ) -> DevicePluginOptions: ...
    def ListAndWatch(
        self, request: Empty, context: grpc.ServicerContext
    ) -> Iterator[ListAndWatchResponse]: ...
    def GetPreferredAllocation(
        self, request: PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> PreferredAllocationResponse: ...
    def Allocate(
        self, request: AllocateRequest, context: grpc.ServicerContext
    ) -> AllocateResponse: ...
    def PreStartContainer(
        self, request: PreStartContainerRequest, context: grpc.ServicerContext
    ) -> PreStartContainerResponse: ...

def add_DevicePluginServicer_to_server(
    servicer: DevicePluginServicer, server: grpc.Server
) -> None: ...
