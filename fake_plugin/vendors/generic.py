"""The vendor of resources that are no real vendor's: plain IDs, variables and device files.

A container gets, for its devices and no others,

    GPULAB_VISIBLE_DEVICES=fake-…,fake-…
    GPULAB_VISIBLE_DEVICES_FAKE_EXAMPLE_COM_DEVICE=fake-…,fake-…
    /dev/gpulab/fake.example.com/device/<index>     the node's /dev/null

The files hold the resource's name, so those of two resources do not meet.
"""

from collections.abc import Sequence

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.device import Device
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import identity, pool_layout, visible
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place


def card(node: str, share: Share, index: int, minor: int) -> Card:
    """Return the device of that index, whose ID has 41 characters."""
    name = identity.of_card(node, share.pool, index)
    return pool_layout.card_of(share, index, minor, uid=f"fake-{name}")


def offers(share: Share, cards: Sequence[Card], place: Place = BARE) -> tuple[Offer, ...]:
    """Return the resource that the fleet names, with a device for each card.

    No tools are known for it, so that of `place` a container gets nothing.
    """
    del place
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
    return ContainerAllocateResponse(
        envs=visible.variables(resource, (device.id for device in devices)),
        devices=visible.files(f"/dev/gpulab/{resource}/{device.card.index}" for device in devices),
    )
