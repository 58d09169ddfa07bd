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
from fake_plugin.fleet.plan import Share
from fake_plugin.hardware.card import Card
from fake_plugin.vendors.offer import Offer

_VARIABLE: Final = "GPULAB_VISIBLE_DEVICES"
#: A fixed starting point makes the IDs the same on every machine, for ever.
_NAMESPACE: Final = uuid.UUID("5e6a3cde-6f0b-4a0e-9d0f-0c1f6b7f4d52")


def card(node: str, share: Share, index: int, minor: int) -> Card:
    """Return the device of that index, whose ID has 41 characters.

    None of the names of node and pool can hold a slash, so no two devices have one ID.
    """
    name = f"{node}/{share.pool}/{index}"
    return Card(
        uid=f"fake-{uuid.uuid5(_NAMESPACE, name)}",
        pool=share.pool,
        index=index,
        minor=minor,
        numa=share.numa[index] if index < len(share.numa) else None,
    )


def offers(share: Share, cards: Sequence[Card]) -> tuple[Offer, ...]:
    """Return the resource that the fleet names, with a device for each card."""
    resource = share.resource or ""
    return (
        Offer(
            resource=resource,
            pool=share.pool,
            devices=tuple(Device(card.uid, card) for card in cards),
            answer=lambda devices: container_answer(resource, devices),
            pre_start=share.pre_start,
        ),
    )


def container_answer(resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
    """Return what a container needs to see exactly these devices."""
    ids = ",".join(device.id for device in devices)
    return ContainerAllocateResponse(
        envs={_VARIABLE: ids, variable_of(resource): ids},
        devices=[
            DeviceSpec(
                host_path="/dev/null",
                container_path=f"/dev/gpulab/{resource}/{device.card.index}",
                permissions="rw",
            )
            for device in devices
        ],
    )


def variable_of(resource: str) -> str:
    """Return the name of the variable that is the resource's own."""
    suffix = "".join(letter if letter.isalnum() else "_" for letter in resource)
    return f"{_VARIABLE}_{suffix.upper()}"
