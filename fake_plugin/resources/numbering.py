"""Which card of a node is which: a pool's `index`-th card, as the node counts it."""

from fake_plugin.hardware.card import Card
from fake_plugin.plan import Plan, Share
from fake_plugin.vendors import vendor_of


def card_at(node: str, plan: Plan, share: Share, index: int) -> Card:
    """Return a pool's card of that index, the same in every run.

    Cards beyond the pool's count are those that were added to it.
    """
    return vendor_of(share).card(node, share, index, _minor(plan, share, index))


def _minor(plan: Plan, share: Share, index: int) -> int:
    """Return the card's number among all of its vendor on the node.

    The pools' own cards come first, pool after pool. What was added takes turns behind them, so
    that no number depends on what is added to another pool, before or later.
    """
    alike = [each for each in plan.shares if vendor_of(each) is vendor_of(share)]
    at = alike.index(share)
    if index < share.count:
        return sum(each.count for each in alike[:at]) + index
    return sum(each.count for each in alike) + (index - share.count) * len(alike) + at
