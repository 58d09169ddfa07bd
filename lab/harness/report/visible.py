"""What others wrote, with everything in it to be seen."""

import re
from typing import Final, TypeVar

from markupsafe import Markup

_CONTROL_PICTURES: Final = 0x2400
_BLANK: Final = 0x20
#: Controls but for tabs and ends of lines, what turns the direction of text, and what is no text.
_HIDDEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)

Shown = TypeVar("Shown")


def visible(found: Shown) -> Shown | str:
    """Return a text in which what is hidden has a sign in its place; other things as they are.

    A browser leaves controls out, and lets some of Unicode's turn a line around, so that it reads
    as another one (CVE-2021-42574).
    """
    if isinstance(found, Markup) or not isinstance(found, str):
        return found
    return _HIDDEN.sub(_sign, found.replace("\r\n", "\n"))


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(_CONTROL_PICTURES + code) if code < _BLANK else f"\\u{code:04x}"
