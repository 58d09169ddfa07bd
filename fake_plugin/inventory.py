"""All that a node has: from what the fleet gives to it, and what has become of that, to resources.

Plan.shares → cards, less the unplugged, with the added → offers → one Resource per name
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from fake_plugin import events
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.fleet.plan import Plan, Share
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.state import StateFile
from fake_plugin.log import say
from fake_plugin.message_limit import MESSAGE_LIMIT
from fake_plugin.resource import Resource, listing_of
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Offer

_UNHEALTHY_IS_LONGER: Final = len("Unhealthy") - len("Healthy")


class Inventory:
    """The cards and resources of a node. The resources follow the board by themselves.

    `set_aside` is where a file of the hardware's state was put that made no sense.
    """

    def __init__(
        self, node: str, plan: Plan, board: Board, *, set_aside: Path | None = None
    ) -> None:
        self.node = node
        self.plan = plan
        self.board = board
        self.set_aside = set_aside
        for share in plan.shares:
            refuse_too_long(node, share)
        self.resources = tuple(Resource(offer, board) for offer in self._offers())
        self._plugged = _what_is_plugged(board)
        board.listen(self._refresh)

    @classmethod
    def load(cls, state_dir: Path, node: str, plan: Plan) -> "Inventory":
        """Return the node's inventory with the hardware as it was left.

        Raises `NotReady` where its state cannot be read, `WrongUse` where the plan cannot be.
        """
        file = StateFile(state_dir)
        try:
            state, aside = file.load()
        except OSError as problem:
            raise NotReady(
                "the state of the hardware cannot be read",
                where=str(file.path),
                seen=problem.strerror or "",
                remedy="make the file readable, or remove it: the hardware is then all sound",
            ) from problem
        if aside:
            say(events.STATE_SET_ASIDE, file=str(aside))
        board = Board(file, state, sticky=plan.sticky)
        return cls(node, plan, board, set_aside=aside)

    def cards(self, share: Share) -> tuple[Card, ...]:
        """Return the cards of a share that are plugged in, in order."""
        unplugged = self.board.state.unplugged
        return tuple(card for card in self.every_card(share) if card.uid not in unplugged)

    def every_card(self, share: Share) -> Iterator[Card]:
        """Yield the cards of a share with those that are unplugged, in order."""
        vendor, first = vendor_of(share), self._first_minor(share)
        count = share.count + self.board.state.added.get(share.pool, 0)
        return (vendor.card(self.node, share, at, first + at) for at in range(count))

    def _first_minor(self, share: Share) -> int:
        before = self.plan.shares[: self.plan.shares.index(share)]
        return sum(each.count for each in before if vendor_of(each) is vendor_of(share))

    def _offers(self) -> Iterator[Offer]:
        for share in self.plan.shares:
            yield from vendor_of(share).offers(share, self.cards(share))

    def _refresh(self) -> None:
        # Making 20 000 devices anew takes longer than a flap may: only where cards come and go.
        plugged = _what_is_plugged(self.board)
        if plugged == self._plugged:
            for resource in self.resources:
                resource.refresh()
            return
        self._plugged = plugged
        offers = {offer.resource: offer for offer in self._offers()}
        for resource in self.resources:
            resource.refresh(offers.get(resource.name, replace(resource.offer, devices=())))


def _what_is_plugged(board: Board) -> tuple[frozenset[str], dict[str, int]]:
    return board.state.unplugged, dict(board.state.added)


def refuse_too_long(node: str, share: Share) -> None:
    """Refuse a share one of whose lists no kubelet would take, before the list is made.

    Raises `WrongUse`, with the most cards that would do.

    One card tells the size of all, whose IDs are of one length. A kubelet must be able to take the
    list also when every device is unhealthy. The lab counts in the same way.
    """
    vendor = vendor_of(share)
    one = replace(share, count=1)
    for offer in vendor.offers(one, [vendor.card(node, one, 0, 0)]):
        message = listing_of(offer.devices, lambda _: True)
        size = (message.ByteSize() + _UNHEALTHY_IS_LONGER * len(offer.devices)) * share.count
        if size > MESSAGE_LIMIT:
            most = share.count * MESSAGE_LIMIT // size
            raise WrongUse(
                f"{share.count * len(offer.devices)} devices of {offer.resource} are too many "
                "for one list",
                where=f"pool {share.pool}",
                seen=f"the list has up to {size} bytes, and the kubelet takes {MESSAGE_LIMIT}",
                remedy=f"lower the pool's count to {most} or less",
            )
