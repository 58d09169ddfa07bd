"""What a plugin says may be anything, and has to leave a terminal as it is."""

#: Of what is no character to be printed, these alone are wanted.
_LAYOUT = "\n\t"


def printable(text: str) -> str:
    r"""Return the text on its lines, with escapes as `\x1b` for what cannot be seen."""
    return "".join(
        each if each.isprintable() or each in _LAYOUT else ascii(each)[1:-1] for each in text
    )
