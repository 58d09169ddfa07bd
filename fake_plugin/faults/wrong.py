"""Answers that are wrong on purpose, made of the right ones.

What the kubelet makes of each is in Kubernetes' pkg/kubelet/cm/devicemanager/manager.go: of an
Allocate it reads the first container's answer alone, and none is an error; of preferred IDs it
passes over those that it does not know or did not ask for.
"""

from collections.abc import Iterator
from typing import Final

from google.protobuf.message import Message

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateResponse,
    ContainerAllocateResponse,
    ContainerPreferredAllocationResponse,
    Device,
    DeviceSpec,
    ListAndWatchResponse,
    PreferredAllocationRequest,
    PreferredAllocationResponse,
)
from fake_plugin.device import HEALTHY
from fake_plugin.faults.fault import WrongAnswer

#: A device that no node has.
UNKNOWN: Final = "gpulab-unknown-device"


def spoiled(answer: Message, kind: WrongAnswer, request: Message) -> Message:
    """Return the answer of a call made wrong; the one that is given stays as it is."""
    if kind == "empty":
        return type(answer)()
    match answer, request:
        case ListAndWatchResponse(), _:
            return ListAndWatchResponse(devices=_devices([*answer.devices], kind))
        case AllocateResponse(), _:
            containers = [*answer.container_responses]
            return AllocateResponse(container_responses=_containers(containers, kind))
        case PreferredAllocationResponse(), PreferredAllocationRequest():
            return PreferredAllocationResponse(
                container_responses=[*_preferences(answer, request, kind)]
            )
        case _:
            raise TypeError(f"a {type(answer).__name__} cannot be wrong in the way {kind!r}")


def _devices(devices: list[Device], kind: WrongAnswer) -> list[Device]:
    unknown = Device(ID=UNKNOWN, health=HEALTHY)
    match kind:
        case "too-few":
            return devices[:-1]
        case "too-many":
            return [*devices, unknown]
        case _:
            return [unknown, *devices[1:]]


def _containers(
    containers: list[ContainerAllocateResponse], kind: WrongAnswer
) -> list[ContainerAllocateResponse]:
    match kind:
        case "too-few":
            return containers[:-1]
        case "too-many":
            return [*containers, *containers[-1:]]
        case _:
            # The runtime finds no such file on the node, and the container is not created.
            path = f"/dev/{UNKNOWN}"
            spec = DeviceSpec(host_path=path, container_path=path, permissions="rw")
            return [_with_device(each, spec) for each in containers]


def _with_device(answer: ContainerAllocateResponse, spec: DeviceSpec) -> ContainerAllocateResponse:
    changed = ContainerAllocateResponse()
    changed.CopyFrom(answer)
    changed.devices.append(spec)
    return changed


def _preferences(
    answer: PreferredAllocationResponse, request: PreferredAllocationRequest, kind: WrongAnswer
) -> Iterator[ContainerPreferredAllocationResponse]:
    for right, asked in zip(answer.container_responses, request.container_requests, strict=True):
        ids = [*right.deviceIDs]
        match kind:
            case "too-few":
                wrong = ids[:-1]
            case "too-many":
                rest = [each for each in asked.available_deviceIDs if each not in ids]
                wrong = [*ids, *(rest or [UNKNOWN])]
            case _:
                wrong = [UNKNOWN, *ids[1:]]
        yield ContainerPreferredAllocationResponse(deviceIDs=wrong)
