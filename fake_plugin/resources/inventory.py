"""All that a node has: from what the fleet gives to it, and what has become of that, to resources.

Plan.shares → cards, less the unplugged, with the added → offers → one Resource per name
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from fake_plugin import events
from fake_plugin.errors import NotReady, WrongUse, needing
from fake_plugin.hardware.board import Board, Ignores, usual
from fake_plugin.hardware.card import Card
from fake_plugin.hardware.state import StateFile
from fake_plugin.log import Sparingly, say
from fake_plugin.plan import Plan, Share
from fake_plugin.resources.list_size import refuse_too_long
from fake_plugin.resources.numbering import card_at
from fake_plugin.resources.resource import Resource
from fake_plugin.vendors import vendor_of
from fake_plugin.vendors.offer import Offer
from fake_plugin.vendors.place import BARE, Place

if TYPE_CHECKING:
    from fake_plugin.cdi.publication import Publication

#: The cards that are out, and how many each pool has beyond its count.
Plugged: TypeAlias = tuple[frozenset[str], dict[str, int]]

_EVERYTHING: Final[Plugged] = (frozenset(), {})
#: CDI specs that could not be written, for want of room, are tried again.
PUBLISH_AGAIN_SECONDS: Final = 2.0
_SAY_AGAIN_SECONDS: Final = 300.0


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
        self._publication = _publication_in(place.cdi_dir)
        for share in plan.shares:
            refuse_too_long(node, share)
        # A card that is out now can come back: what it is offered as is a resource all the same.
        self._cards = {share.pool: tuple(self._planned(share)) for share in plan.shares}
        planned = tuple(self._offers(self.cards))
        _refuse_unpublished(planned, self._publication)
        self._note_sticky(planned)
        self.resources = tuple(Resource(offer, board) for offer in planned)
        self._lock = threading.Lock()
        self._not_written = Sparingly(_SAY_AGAIN_SECONDS)
        self._plugged: Plugged = _EVERYTHING
        if _what_is_plugged(board) != _EVERYTHING:
            planned = self._take_over()
        self._publish(planned)
        board.listen(self._refresh)

    @classmethod
    def load(
        cls,
        state_dir: Path,
        node: str,
        plan: Plan,
        place: Place = BARE,
        ignores: Ignores = usual,
    ) -> "Inventory":
        """Return the node's inventory with the hardware as it was left.

        Raises `NotReady` where its state cannot be read or CDI specs not be written, and `WrongUse`
        where the plan is one that no kubelet or no plugin would take.
        """
        file = StateFile(state_dir)
        remedy = "make the file readable, or remove it: the hardware is then all sound"
        with needing(file.path, "the state of the hardware cannot be read", remedy):
            state, aside = file.load()
        if aside:
            say(events.STATE_SET_ASIDE, file=str(aside))
        sticky = all(plan.is_sticky(share) for share in plan.shares)
        board = Board(file, state, sticky=sticky, ignores=ignores)
        return cls(node, plan, board, place, set_aside=aside)

    def cards(self, share: Share) -> tuple[Card, ...]:
        """Return the cards of a share that are plugged in, in order."""
        return self._cards[share.pool]

    def every_card(self, share: Share) -> Iterator[Card]:
        """Yield the cards of a share with those that are unplugged, in order."""
        count = share.count + self.board.state.added.get(share.pool, 0)
        # Devices have their cards already: 20 000 more of them are 8 MB.
        known = {card.index: card for card in self._cards[share.pool]}
        return (known.get(at) or card_at(self.node, self.plan, share, at) for at in range(count))

    def _offers(self, cards_of: Callable[[Share], Sequence[Card]]) -> Iterator[Offer]:
        for share in self.plan.shares:
            yield from vendor_of(share).offers(share, cards_of(share), self._place)

    def _planned(self, share: Share) -> list[Card]:
        return [card_at(self.node, self.plan, share, at) for at in range(share.count)]

    def _refresh(self) -> None:
        # Two changes at once come from two threads: the last of them must see what both did.
        with self._lock:
            # Making 20 000 devices anew takes longer than a flap may: only where cards come and go.
            if _what_is_plugged(self.board) == self._plugged:
                for resource in self.resources:
                    resource.refresh()
                return
            self._publish_or_later(self._take_over())

    def _take_over(self) -> tuple[Offer, ...]:
        """Have the resources follow the cards that come and go, and return what is offered now."""
        self._plugged = _what_is_plugged(self.board)
        unplugged, _ = self._plugged
        self._cards = {
            share.pool: tuple(card for card in self.every_card(share) if card.uid not in unplugged)
            for share in self.plan.shares
        }
        offers = tuple(self._offers(self.cards))
        self._note_sticky(offers)
        named = {offer.resource: offer for offer in offers}
        for resource in self.resources:
            resource.refresh(named.get(resource.name, replace(resource.offer, devices=())))
        return offers

    def _note_sticky(self, offers: Iterable[Offer]) -> None:
        policies = {share.pool: self.plan.is_sticky(share) for share in self.plan.shares}
        if all(policies.values()):
            return
        for offer in offers:
            if policies[offer.pool]:
                self.board.make_sticky(each.unit for each in offer.devices)
                self.board.make_sticky(each.card.uid for each in offer.devices)

    def _publish_or_later(self, offers: Iterable[Offer]) -> None:
        try:
            self._publish(offers)
        except NotReady as problem:
            if self._not_written.is_due(str(problem.facts())):
                say(events.CDI_NOT_WRITTEN, what=problem.what, **problem.facts())
            later = threading.Timer(PUBLISH_AGAIN_SECONDS, self._publish_again)
            later.daemon = True
            later.start()

    def _publish_again(self) -> None:
        # Cards may have come and gone meanwhile: what is there now is what counts.
        with self._lock:
            self._publish_or_later(self._offers(self.cards))

    def _publish(self, offers: Iterable[Offer]) -> None:
        if self._publication:
            self._publication.update(each for offer in offers for each in offer.cdi)


def _what_is_plugged(board: Board) -> Plugged:
    return board.state.unplugged, dict(board.state.added)


def _refuse_unpublished(offers: Iterable[Offer], publication: "Publication | None") -> None:
    if publication is None:
        for offer in offers:
            if offer.cdi:
                raise WrongUse(
                    "containers are to be given devices through CDI, and there is no folder for "
                    "its specs",
                    where=f"pool {offer.pool}",
                    remedy="give --cdi-dir /var/run/cdi, or use the device list strategy envvar",
                )


def _publication_in(folder: Path | None) -> "Publication | None":
    if folder is None:
        return None
    from fake_plugin.cdi.folder import CdiFolder  # noqa: PLC0415 - few need its memory
    from fake_plugin.cdi.publication import Publication  # noqa: PLC0415

    return Publication(CdiFolder(folder))
