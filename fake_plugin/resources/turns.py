"""What a script of the fleet's kind does to the cards of a node."""

from collections.abc import Iterable, Iterator
from itertools import islice

from fake_plugin.hardware.script import Turn
from fake_plugin.plan import Flap
from fake_plugin.resources.inventory import Inventory


def turns(inventory: Inventory, flaps: Iterable[Flap]) -> Iterator[Turn]:
    """Yield what flaps of the node's own pools are to its cards; its times begin with whoever asks.

    A card that the node does not have has none.
    """
    shares = {share.pool: share for share in inventory.plan.shares}
    for flap in flaps:
        cards = inventory.every_card(shares[flap.pool])
        every = flap.seconds if flap.repeats else None
        for card in islice(cards, flap.device, flap.device + 1):
            yield Turn((card.uid,), flap.becomes, flap.breakage, flap.seconds, every)
