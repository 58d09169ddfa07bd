"""Which errors the hardware had since the plugin started, mended or not."""

import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import DOUBLE_BIT, Breakage

#: The driver reports an ECC error of two bits as an Xid as well (NVIDIA's list of Xid errors).
_XID_OF_DOUBLE_BIT: Final = 48


class History:
    """Counts what breaks on a board, from what is broken already when it begins to look."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._lock = threading.Lock()
        self._seen: Mapping[str, Breakage] = {}
        self._errors: dict[str, Counter[Breakage]] = {}
        self._last_xid: dict[str, int] = {}
        board.listen(self._look)
        self._look()

    def errors(self, unit: str) -> Mapping[Breakage, int]:
        """Return how often a card or a partition had each error."""
        with self._lock:
            return dict(self._errors.get(unit, {}))

    def count(self, breakage: Breakage, *units: str) -> int:
        """Return how often the units had one error, all together."""
        with self._lock:
            return sum(self._errors[unit][breakage] for unit in {*units} & self._errors.keys())

    def last_xid(self, *units: str) -> int:
        """Return the code of the last Xid of the first of the units that had one, or 0.

        The driver keeps it after the card has recovered.
        """
        with self._lock:
            return next((self._last_xid[unit] for unit in units if unit in self._last_xid), 0)

    def _look(self) -> None:
        with self._lock:
            broken = self._board.state.broken
            for unit, breakage in broken.items():
                if self._seen.get(unit) != breakage:
                    self._errors.setdefault(unit, Counter())[breakage] += 1
                    if xid := _xid(breakage):
                        self._last_xid[unit] = xid
            self._seen = broken


def _xid(breakage: Breakage) -> int:
    if breakage.kind == "xid":
        return int(breakage.code)
    return _XID_OF_DOUBLE_BIT if breakage == Breakage("ecc", DOUBLE_BIT) else 0
