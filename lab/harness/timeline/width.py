"""How wide a text is: a Chinese character takes the place of two others."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_WIDE: Final = frozenset("WF")
#: A line may end after a blank, `=`, `,` or a Chinese character, but not before its punctuation.
_UNBROKEN: Final = re.compile(
    r"[\u2e80-\uffef][，。；：、）]*|[^\s\u2e80-\uffef=,]+[=,]?\s*|[=,]\s*|\s+"
)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(each) in _WIDE else 1 for each in text)


def padded(text: str, width: int) -> str:
    """Return a text with blanks behind it, up to so many columns."""
    return text + " " * (width - columns(text))


def wrapped(text: str, width: int) -> Iterator[str]:
    """Yield a text in lines of so many columns at most.

    What is wider than a line by itself, such as a long ID, is cut into pieces.
    """
    line = ""
    for piece in _pieces(text, width):
        if line and columns((line + piece).rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += piece
    if line.strip():
        yield line.rstrip()


def _pieces(text: str, width: int) -> Iterator[str]:
    for piece in _UNBROKEN.findall(text):
        for start in range(0, len(piece), width):
            yield piece[start : start + width]
