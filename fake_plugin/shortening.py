"""How IDs and texts are shown: unknown ones may be anything, of any length and any number."""

from collections.abc import Iterable
from typing import Final

_FEW: Final = 16
_CHARACTERS: Final = 80


def few(ids: Iterable[str], most: int = _FEW) -> list[str]:
    """Return the first IDs, and behind them how many more there are."""
    ids = list(ids)
    more = len(ids) - most
    return ids if more <= 0 else [*ids[:most], f"and {more} more"]


def cut(text: str, most: int = _CHARACTERS) -> str:
    """Return the text, or its beginning and an ellipsis where it is longer."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
