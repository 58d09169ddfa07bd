"""What others wrote, as a page and a terminal show it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb␍c"),
        ("\x00\x07\x1b[31m", "␀␇␛[31m"),
        ("\x7f\x9b", "\\u007f\\u009b"),
        ("user\u202e gpj", "user\\u202e gpj"),
        ("\ud800", "\\ud800"),
        ("a\u200bb\ufeff\u00ad\u2060c", "a\\u200bb\\ufeff\\u00ad\\u2060c"),
        ("a\u2028b\u2029\u00a0c", "a\\u2028b\\u2029\\u00a0c"),
        ("a\u3164b\u2800", "a\\u3164b\\u2800"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("设备 ✓ é", "设备 ✓ é"),
    ],
)
def test_what_is_hidden_is_shown(text: str, shown: str) -> None:
    """Nothing of a log is on a page or a terminal without being seen."""
    assert visible(text) == shown


@given(st.text())
def test_all_that_is_shown_can_be_written(text: str) -> None:
    """Also what is no character at all."""
    assert visible(text).encode().decode() == visible(visible(text))
