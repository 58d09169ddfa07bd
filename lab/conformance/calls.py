"""Calls to a plugin past its kubelet: what no kubelet asks as it is asked here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import grpc

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateRequest,
    ContainerPreferredAllocationRequest,
    DevicePluginOptions,
    Empty,
    ListAndWatchResponse,
    PreferredAllocationRequest,
    PreStartContainerRequest,
)
from lab.conformance.limits import Limits
from lab.embedded.clock import Clock
from lab.embedded.kubelet.client import PluginClient
from lab.embedded.kubelet.connection import Connection, PluginError
from lab.embedded.kubelet.go_text import rpc_error
from lab.embedded.kubelet.journal import Journal


class Calls:
    """A connection of our own to a plugin; `PluginError` has the words of a kubelet.

    Every call is given up when its limit is over, where a kubelet would wait for ever.
    """

    def __init__(self, client: PluginClient, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._path = client.path
        self._connection = Connection(client.resource, client.path, Journal(clock), clock)

    def options(self) -> DevicePluginOptions:
        """Ask for the options, which every plugin has to have an answer for."""
        ask = self._connection.plugin.GetDevicePluginOptions
        return self._connection.call(
            "GetDevicePluginOptions", ask, Empty(), seconds=self._limits.call
        )

    def allocate(self, *containers: Sequence[str]) -> AllocateResponse:
        """Ask for devices, by their IDs, for each of the containers."""
        request = AllocateRequest(
            container_requests=[ContainerAllocateRequest(devices_ids=ids) for ids in containers]
        )
        ask = self._connection.plugin.Allocate
        return self._connection.call("Allocate", ask, request, seconds=self._limits.call)

    def preferred(self, available: Sequence[str], must: Sequence[str], size: int) -> list[str]:
        """Ask which devices one container had best get; return the IDs in the answer."""
        request = PreferredAllocationRequest(
            container_requests=[
                ContainerPreferredAllocationRequest(
                    available_deviceIDs=available, must_include_deviceIDs=must, allocation_size=size
                )
            ]
        )
        ask = self._connection.plugin.GetPreferredAllocation
        answer = self._connection.call(
            "GetPreferredAllocation", ask, request, seconds=self._limits.call
        )
        return [each for one in answer.container_responses[:1] for each in one.deviceIDs]

    def pre_start(self, ids: Sequence[str]) -> None:
        """Announce the start of a container that has these devices."""
        announce = self._connection.plugin.PreStartContainer
        request = PreStartContainerRequest(devices_ids=ids)
        self._connection.call(
            "PreStartContainer", announce, request, seconds=self._limits.pre_start
        )

    @contextmanager
    def listing(self) -> Iterator[ListAndWatchResponse]:
        """Open a stream, give its first list, and cancel it after the body."""
        stream = self._connection.plugin.ListAndWatch(Empty(), timeout=self._limits.first_list)
        try:
            yield self._first(stream)
        finally:
            stream.cancel()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _first(self, stream: Iterator[ListAndWatchResponse]) -> ListAndWatchResponse:
        try:
            return next(stream)
        except StopIteration:
            raise PluginError("the stream ended without a list") from None
        except grpc.RpcError as problem:
            if not isinstance(problem, grpc.Call):
                raise
            words = rpc_error(problem.code(), problem.details(), self._path)
            raise PluginError(words) from problem
