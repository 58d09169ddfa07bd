"""The vendor of resources that are no real vendor's: plain IDs, variables and device files.

A container gets, for its devices and no others,

    GPULAB_VISIBLE_DEVICES=fake-…,fake-…
    GPULAB_VISIBLE_DEVICES_FAKE_EXAMPLE_COM_DEVICE=fake-…,fake-…
    /dev/gpulab/fake.example.com/device/<index>     the node's /dev/null

The kubelet asks for each resource of a container apart, and where two answers set one variable it
keeps either, so the short name is right only in a container with one resource. The long name
and the files hold the resource's name, and are always right.
"""

import uuid
from collections.abc import Sequence
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse, DeviceSpec
from fake_plugin.device import Device

_VARIABLE: Final = "GPULAB_VISIBLE_DEVICES"
#: A fixed starting point makes the IDs the same on every machine, for ever.
_NAMESPACE: Final = uuid.UUID("5e6a3cde-6f0b-4a0e-9d0f-0c1f6b7f4d52")


def device_id(node: str, pool: str, index: int) -> str:
    """Return the ID of a device, 41 characters; none of the three names can hold a slash."""
    return f"fake-{uuid.uuid5(_NAMESPACE, f'{node}/{pool}/{index}')}"


def container_answer(resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
    """Return what a container needs to see exactly these devices."""
    ids = ",".join(device.id for device in devices)
    return ContainerAllocateResponse(
        envs={_VARIABLE: ids, variable_of(resource): ids},
        devices=[
            DeviceSpec(
                host_path="/dev/null",
                container_path=f"/dev/gpulab/{resource}/{device.index}",
                permissions="rw",
            )
            for device in devices
        ],
    )


def variable_of(resource: str) -> str:
    """Return the name of the variable that is the resource's own."""
    suffix = "".join(letter if letter.isalnum() else "_" for letter in resource)
    return f"{_VARIABLE}_{suffix.upper()}"
