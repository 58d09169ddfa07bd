"""Cards that went out of a node, came back, or are new: what came of asking for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CardsMoved:
    """How many cards were unplugged or plugged; `cards` names them, shortened where many."""

    count: int
    cards: tuple[str, ...]


@dataclass(frozen=True)
class CardsAdded:
    """How many cards a pool of the node has got, beyond what it had."""

    count: int
    pool: str
