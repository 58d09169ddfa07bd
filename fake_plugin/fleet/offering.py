"""How many devices of which resource a share is, as its vendor offers them."""

from collections.abc import Mapping

from fake_plugin.plan import Share

#: Neither numbers nor names depend on the node.
_ANY_NODE = "node"


def devices_of(share: Share) -> Mapping[str, int]:
    """Return the number of devices of each resource that the share is offered as.

    Raises `WrongUse` where the vendor's plugin would refuse to start.
    """
    # These cost a tenth of a second, most of it protobuf, and a plain resource needs neither.
    from fake_plugin.resources.list_size import lists_of  # noqa: PLC0415 - see above
    from fake_plugin.vendors import vendor_of  # noqa: PLC0415 - see above

    found = {name: each.devices for name, each in lists_of(_ANY_NODE, share).items()}
    # Beside others, a resource without devices is not offered.
    some = {name: number for name, number in found.items() if number}
    if some:
        return some
    return {offer.resource: 0 for offer in vendor_of(share).offers(share, [])}


def refuse_too_long(share: Share) -> None:
    """Refuse a share one of whose lists no kubelet would take; raises `WrongUse` with a remedy."""
    from fake_plugin.resources import list_size  # noqa: PLC0415 - as above

    list_size.refuse_too_long(_ANY_NODE, share)
