"""What a plugin says, on a terminal."""

import pytest

from lab.conformance.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("device 0\n\tis 好", "device 0\n\tis 好"),
        ("a\0b\x1b[2J\r\x9b", r"a\x00b\x1b[2J\r\x9b"),
        ("\u202egpu\ud800", r"\u202egpu\ud800"),
        (r"\x00 as it was written", r"\x00 as it was written"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text: str, shown: str) -> None:
    """Lines and tabs stay."""
    assert printable(text) == shown
