"""All that a node has: from what the fleet gives to it, and what has become of that, to resources.

Plan.shares → cards, less the unplugged, with the added → offers → one Resource per name
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from fake_plugin import events
from fake_plugin.errors import NotReady
from fake_plugin.fleet.plan import Plan, Share
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.state import StateFile
from fake_plugin.list_size import refuse_too_long
from fake_plugin.log import say
from fake_plugin.numbering import card_at
from fake_plugin.resource import Resource
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place

#: The cards that are out, and how many each pool has beyond its count.
Plugged: TypeAlias = tuple[frozenset[str], dict[str, int]]


class Inventory:
    """The cards and resources of a node. The resources follow the board by themselves.

    `set_aside` is where a file of the hardware's state was put that made no sense.
    """

    def __init__(
        self,
        node: str,
        plan: Plan,
        board: Board,
        place: Place = BARE,
        *,
        set_aside: Path | None = None,
    ) -> None:
        self.node = node
        self.plan = plan
        self.board = board
        self.set_aside = set_aside
        self._place = place
        for share in plan.shares:
            refuse_too_long(node, share)
        # A card that is out now can come back: what it is offered as is a resource all the same.
        self.resources = tuple(Resource(offer, board) for offer in self._offers(self._planned))
        self._plugged: Plugged = (frozenset(), {})
        self._refresh()
        board.listen(self._refresh)

    @classmethod
    def load(cls, state_dir: Path, node: str, plan: Plan, place: Place = BARE) -> "Inventory":
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
        return cls(node, plan, board, place, set_aside=aside)

    def cards(self, share: Share) -> tuple[Card, ...]:
        """Return the cards of a share that are plugged in, in order."""
        unplugged = self.board.state.unplugged
        return tuple(card for card in self.every_card(share) if card.uid not in unplugged)

    def every_card(self, share: Share) -> Iterator[Card]:
        """Yield the cards of a share with those that are unplugged, in order."""
        count = share.count + self.board.state.added.get(share.pool, 0)
        return (card_at(self.node, self.plan, share, at) for at in range(count))

    def _offers(self, cards_of: Callable[[Share], Sequence[Card]]) -> Iterator[Offer]:
        for share in self.plan.shares:
            yield from vendor_of(share).offers(share, cards_of(share), self._place)

    def _planned(self, share: Share) -> list[Card]:
        return [card_at(self.node, self.plan, share, at) for at in range(share.count)]

    def _refresh(self) -> None:
        # Making 20 000 devices anew takes longer than a flap may: only where cards come and go.
        plugged = _what_is_plugged(self.board)
        if plugged == self._plugged:
            for resource in self.resources:
                resource.refresh()
            return
        self._plugged = plugged
        offers = {offer.resource: offer for offer in self._offers(self.cards)}
        for resource in self.resources:
            resource.refresh(offers.get(resource.name, replace(resource.offer, devices=())))


def _what_is_plugged(board: Board) -> Plugged:
    return board.state.unplugged, dict(board.state.added)
