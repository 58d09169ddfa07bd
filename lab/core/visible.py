"""What others wrote, with everything in it to be seen."""

from typing import Final

_CONTROL_PICTURES: Final = 0x2400
_BLANK: Final = 0x20
_FOUR_DIGITS: Final = 0xFFFF
#: What has a place in every text.
_LAYOUT: Final = frozenset("\t\n")
#: Letters and marks that have no shape of their own, though Unicode counts them as printable.
_SHAPELESS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def visible(text: str) -> str:
    """Return a text in which all that is hidden has a sign in its place, or an escape.

    Terminals act on controls, browsers leave them out; some of Unicode's turn a line around, so
    that it reads as another one (CVE-2021-42574), and some take no room at all.
    """
    if text.isprintable() and _SHAPELESS.isdisjoint(text):
        return text
    return "".join(map(_shown, text.replace("\r\n", "\n")))


def _shown(character: str) -> str:
    if character in _LAYOUT or (character.isprintable() and character not in _SHAPELESS):
        return character
    code = ord(character)
    if code < _BLANK:
        return chr(_CONTROL_PICTURES + code)
    return f"\\u{code:04x}" if code <= _FOUR_DIGITS else f"\\U{code:08x}"
