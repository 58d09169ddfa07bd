"""The five calls of a device plugin, answered for one resource."""

# ruff: noqa: N802 - the names of the calls are those of the API

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NoReturn

import grpc

from fake_plugin import events
from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    AllocateResponse,
    ContainerAllocateResponse,
    ContainerPreferredAllocationRequest,
    ContainerPreferredAllocationResponse,
    DevicePluginOptions,
    Empty,
    ListAndWatchResponse,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
    PreStartContainerRequest,
    PreStartContainerResponse,
)
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginServicer
from fake_plugin.device import Device
from fake_plugin.log import Sparingly, say
from fake_plugin.resources.preference import choose
from fake_plugin.resources.resource import Resource
from fake_plugin.serving.streams import Streams
from fake_plugin.shortening import cut, few
from fake_plugin.vendors.offer import Refused

#: Between two lists, in seconds: of a storm of changes the kubelet hears what came of it. The
#: first change is sent at once.
LIST_GAP: Final = 0.02
#: IDs that are unknown may be anything, of any length, and asked for again and again.
_SHOWN_UNKNOWN_IDS: Final = 3
_REPEAT_SECONDS: Final = 10.0


def options_of(resource: Resource) -> DevicePluginOptions:
    """Return which of the optional calls the kubelet should make for a resource."""
    return DevicePluginOptions(
        pre_start_required=resource.offer.pre_start,
        get_preferred_allocation_available=resource.offer.preferred,
    )


class Service(DevicePluginServicer):
    """Answers the kubelet about one resource; `streams` keeps the account of ListAndWatch."""

    def __init__(self, resource: Resource, streams: Streams) -> None:
        self._resource = resource
        self._streams = streams
        self._unknown_said = Sparingly(_REPEAT_SECONDS)

    def GetDevicePluginOptions(
        self, request: Empty, context: grpc.ServicerContext
    ) -> DevicePluginOptions:
        """Say which of the optional calls the kubelet should make."""
        del request, context
        say(events.OPTIONS_ASKED, resource=self._resource.name)
        return options_of(self._resource)

    def ListAndWatch(
        self, request: Empty, context: grpc.ServicerContext
    ) -> Iterator[ListAndWatchResponse]:
        """Send the list, and again at each change, until the caller or the plugin ends.

        The stream counts as open from now on, whenever its first list is asked for.
        """
        del request
        if not self._streams.enter(context):
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, self._streams.full())
        return self._lists(self._streams.over(context))

    def GetPreferredAllocation(
        self, request: PreferredAllocationRequest, context: grpc.ServicerContext
    ) -> PreferredAllocationResponse:
        """Say which of the devices that are free fit together best."""
        del context
        answers = [self._preferred(each) for each in request.container_requests]
        for answer in answers:
            say(events.PREFERRED, resource=self._resource.name, devices=few(answer.deviceIDs))
        return PreferredAllocationResponse(container_responses=answers)

    def Allocate(self, request: AllocateRequest, context: grpc.ServicerContext) -> AllocateResponse:
        """Say how each container gets its devices; INVALID_ARGUMENT for one that is unknown."""
        response = AllocateResponse()
        for container in request.container_requests:
            devices = self._known("Allocate", container.devices_ids, context)
            answer = self._answer(devices, context)
            response.container_responses.append(answer)
            say(
                events.ALLOCATED,
                resource=self._resource.name,
                devices=few(container.devices_ids),
                files=few(file.container_path for file in answer.devices),
            )
        return response

    def PreStartContainer(
        self, request: PreStartContainerRequest, context: grpc.ServicerContext
    ) -> PreStartContainerResponse:
        """Agree to the start of a container, with its devices reset.

        INVALID_ARGUMENT for a device that is unknown, and RESOURCE_EXHAUSTED where the reset cannot
        be written: it has not happened then.
        """
        devices = self._known("PreStartContainer", request.devices_ids, context)
        try:
            self._resource.reset(devices)
        except OSError as problem:
            say(events.STATE_NOT_WRITTEN, reason=str(problem))
            text = f"the reset of the devices cannot be written: {problem}"
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        say(
            events.PRE_STARTED,
            resource=self._resource.name,
            devices=few(request.devices_ids),
        )
        return PreStartContainerResponse()

    def _lists(self, over: Callable[[], bool]) -> Iterator[ListAndWatchResponse]:
        while not over():
            listing = self._resource.listing()
            say(
                events.LIST_SENT,
                resource=self._resource.name,
                devices=len(listing.message.devices),
                healthy=listing.healthy,
            )
            sent_at = time.monotonic()
            yield listing.message
            # To send a long list, and to write it down, takes a part of the gap.
            self._resource.wait_until(over, max(0.0, sent_at + LIST_GAP - time.monotonic()))
            self._resource.wait_for_change(listing.version, over)

    def _preferred(
        self, request: ContainerPreferredAllocationRequest
    ) -> ContainerPreferredAllocationResponse:
        resource = self._resource
        return ContainerPreferredAllocationResponse(
            deviceIDs=choose(
                resource.devices,
                request.available_deviceIDs,
                request.must_include_deviceIDs,
                request.allocation_size,
                resource.offer.spread,
            )
        )

    def _answer(
        self, devices: Sequence[Device], context: grpc.ServicerContext
    ) -> ContainerAllocateResponse:
        try:
            return self._resource.offer.answer(devices)
        except Refused as refusal:
            context.abort(grpc.StatusCode.UNKNOWN, str(refusal))

    def _has(self, device_id: str) -> bool:
        return self._resource.find(device_id) is not None

    def _known(self, call: str, ids: Sequence[str], context: grpc.ServicerContext) -> list[Device]:
        found = [self._resource.find(device_id) for device_id in ids]
        devices = [device for device in found if device is not None]
        if len(devices) < len(ids):
            self._refuse(call, [each for each in ids if not self._has(each)], context)
        return devices

    def _refuse(self, call: str, unknown: list[str], context: grpc.ServicerContext) -> NoReturn:
        short = [cut(device_id) for device_id in unknown]
        if self._unknown_said.is_due(call):
            devices = few(short, _SHOWN_UNKNOWN_IDS)
            say(events.UNKNOWN_DEVICE, resource=self._resource.name, call=call, devices=devices)
        named = ", ".join(few([repr(each) for each in short], _SHOWN_UNKNOWN_IDS))
        text = f"{self._resource.name} has no device {named} on this node"
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
