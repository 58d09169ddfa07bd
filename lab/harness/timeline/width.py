"""How wide a text is: a Chinese character takes the place of two others."""

import re
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, chop_cells

#: A line may end after a blank and after a Chinese character, but not before its punctuation.
_UNBROKEN: Final = re.compile(r"[\u2e80-\uffef][，。；：、）]*|[^\s\u2e80-\uffef]+\s*|\s+")
#: Where there is no room for that: after what separates a name from values, and values.
_PART: Final = re.compile(r"[^=,]*[=,]?")


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a text in lines of so many columns at most.

    What is wider than a line by itself, such as a list of long IDs, is broken between them, or cut.
    """
    line = ""
    for piece in _pieces(text, width):
        if line and cell_len((line + piece).rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece
    if line.strip():
        yield line.rstrip()


def _pieces(text: str, width: int) -> Iterator[str]:
    for piece in _UNBROKEN.findall(text):
        for part in [piece] if cell_len(piece.rstrip()) <= width else _PART.findall(piece):
            yield from chop_cells(part, width)
