# Types of the generated services, which the generator leaves out. Written by hand.
# ruff: noqa: N802 - the names are those of the API

import grpc

from fake_plugin.api.podresources_pb2 import (
    AllocatableResourcesRequest,
    AllocatableResourcesResponse,
    GetPodResourcesRequest,
    GetPodResourcesResponse,
    ListPodResourcesRequest,
    ListPodResourcesResponse,
)

GRPC_GENERATED_VERSION: str

class PodResourcesListerStub:
    List: grpc.UnaryUnaryMultiCallable[ListPodResourcesRequest, ListPodResourcesResponse]
    GetAllocatableResources: grpc.UnaryUnaryMultiCallable[
        AllocatableResourcesRequest, AllocatableResourcesResponse
    ]
    Get: grpc.UnaryUnaryMultiCallable[GetPodResourcesRequest, GetPodResourcesResponse]
    def __init__(self, channel: grpc.Channel) -> None: ...

class PodResourcesListerServicer:
    def List(
        self, request: ListPodResourcesRequest, context: grpc.ServicerContext
    ) -> ListPodResourcesResponse: ...
    def GetAllocatableResources(
        self, request: AllocatableResourcesRequest, context: grpc.ServicerContext
    ) -> AllocatableResourcesResponse: ...
    def Get(
        self, request: GetPodResourcesRequest, context: grpc.ServicerContext
    ) -> GetPodResourcesResponse: ...

def add_PodResourcesListerServicer_to_server(
    servicer: PodResourcesListerServicer, server: grpc.Server
) -> None: ...
