"""What differs from vendor to vendor: names of resources, shapes of IDs, answers to Allocate.

nvidia, amd, ascend, generic   the vendors: `card` makes the cards of a share, and `offers`
                               makes resources of cards; `VENDORS` finds the module
offer, place                   what they give, and what the node gives them
identity, pool_layout,         what they have in common
sharing, visible
"""

from collections.abc import Sequence
from typing import Final, Protocol

from fake_plugin.hardware.card import Card
from fake_plugin.plan import Share
from fake_plugin.vendors import amd, ascend, generic, nvidia
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place


class Vendor(Protocol):
    """What a module of this package offers."""

    def card(self, node: str, share: Share, index: int, minor: int) -> Card:
        """Return the `index`-th card of a share, the same in every run.

        `minor` counts all cards of the vendor on the node.
        """

    def offers(self, share: Share, cards: Sequence[Card], place: Place = BARE) -> tuple[Offer, ...]:
        """Return the resources that a share's cards are offered as.

        Raises `WrongUse` where the vendor's plugin would refuse to start on them.
        """


VENDORS: Final[dict[str, Vendor]] = {
    "nvidia": nvidia,
    "amd": amd,
    "ascend": ascend,
    "generic": generic,
}


def vendor_of(share: Share) -> Vendor:
    """Return the vendor of a share; plain resources have the generic one."""
    return VENDORS[share.accelerator.vendor if share.accelerator else "generic"]
