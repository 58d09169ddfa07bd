"""How large the lists of a pool's devices would be, told before they are made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fake_plugin.errors import WrongUse
from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share, Sharing
from fake_plugin.resources.message_limit import MESSAGE_LIMIT
from fake_plugin.resources.resource import listing_of
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.sharing import SHARED, another_unit

#: No device takes less of a list, whatever its name: its health alone is nine letters.
_LEAST_BYTES: Final = 20


@dataclass
class ListSize:
    """How long one resource's list is, in devices and bytes; `offer` is that of one card."""

    offer: Offer
    devices: int = 0
    size: int = 0


def refuse_too_long(node: str, share: Share) -> None:
    """Refuse a share one of whose lists no kubelet would take, with what would make it shorter.

    Cards that are cut alike have lists of one length, so one card tells of all: the last, whose
    numbers are the longest. A kubelet must be able to take the list also when every device is
    unhealthy. The lab asks here as well. Raises `WrongUse`.
    """
    replicas = share.sharing.replicas if share.sharing else 1
    if replicas * _LEAST_BYTES > MESSAGE_LIMIT:
        raise _too_long(share, f"{replicas} replicas of a card", replicas * _LEAST_BYTES, None)
    for name, found in lists_of(node, share).items():
        if found.size > MESSAGE_LIMIT:
            raise _too_long(share, f"{found.devices} devices of {name}", found.size, found.offer)


def lists_of(node: str, share: Share) -> dict[str, ListSize]:
    """Return the lists of a share by their resources, as long as they can be."""
    lists: dict[str, ListSize] = {}
    for card, number in _kinds_of_card(node, share):
        for offer in vendor_of(share).offers(share, [card]):
            found = lists.setdefault(offer.resource, ListSize(offer))
            message = listing_of(offer.devices, lambda _: False)
            found.devices += len(offer.devices) * number
            found.size += message.ByteSize() * number
    return lists


def _kinds_of_card(node: str, share: Share) -> Iterator[tuple[Card, int]]:
    """Return one card for each way that cards are cut, and how many are cut so."""
    layout = share.partitions.layout if share.partitions else {}
    kinds: dict[tuple[str, ...], list[int]] = {}
    for index, profiles in sorted(layout.items()):
        kinds.setdefault(tuple(sorted(profiles)), []).append(index)
    for indices in kinds.values():
        yield _last(node, share, indices[-1]), len(indices)
    whole = next((at for at in reversed(range(share.count)) if at not in layout), None)
    if whole is not None:
        yield _last(node, share, whole), share.count - len(layout)


def _last(node: str, share: Share, index: int) -> Card:
    card = vendor_of(share).card(node, share, index, index)
    # Node 0 is the shortest to write, and need not be that of all cards.
    return replace(card, numa=max(share.numa)) if share.numa else card


def _too_long(share: Share, what: str, size: int, offer: Offer | None) -> WrongUse:
    most = share.count * MESSAGE_LIMIT // size
    return WrongUse(
        f"{what} are too many for one list",
        where=f"pool {share.pool}",
        seen=f"the list has up to {size} bytes, and the kubelet takes {MESSAGE_LIMIT}",
        remedy=" or ".join(
            (*_shorter(share, size, offer), f"lower the pool's count to {most} or less")
        ),
        key=("count",),
    )


def _shorter(share: Share, size: int, offer: Offer | None) -> Iterator[str]:
    """Return what else than fewer cards makes a list shorter."""
    if offer is not None and offer.unit_mib is not None:
        unit = -(-offer.unit_mib * size // MESSAGE_LIMIT)
        yield f"{another_unit(share, 'raise')} {unit} or more,"
    elif share.sharing and not share.by_percentage:
        yield from _fewer_replicas(share.sharing, size, offer)
    elif share.partitions and share.partitions.layout:
        yield "cut up fewer cards,"


def _fewer_replicas(sharing: Sharing, size: int, offer: Offer | None) -> Iterator[str]:
    if sharing.each is None:
        yield f"lower sharing.replicas to {sharing.replicas * MESSAGE_LIMIT // size} or less,"
        return
    resource = offer.resource.removesuffix(SHARED) if offer else max(sharing.each)
    replicas = sharing.replicas_of(resource)
    if replicas > 1:
        yield f"lower the replicas of {resource} to {replicas * MESSAGE_LIMIT // size} or less,"
