"""How many devices of which resource a share is, as its vendor offers them."""

from collections.abc import Mapping

from fake_plugin.fleet.plan import Share


def devices_of(share: Share, node: str = "node") -> Mapping[str, int]:
    """Return the number of devices of each resource, in the vendor's order.

    Neither number nor name depends on the node. Raises `WrongUse` where the vendor's plugin would
    refuse to start.
    """
    # Costs a tenth of a second, most of it protobuf, and a plain resource needs none of it.
    from fake_plugin.vendors import vendor_of  # noqa: PLC0415 - see above

    vendor = vendor_of(share)
    cards = [vendor.card(node, share, index, index) for index in range(share.count)]
    return {offer.resource: len(offer.devices) for offer in vendor.offers(share, cards)}
