"""What the kernel says of capabilities."""

import pytest

from lab.host.capabilities import SYS_RESOURCE, within_reach

FULL = "000001ffffffffff"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (f"Name:\tpython\nCapBnd:\t{FULL}\n", True),
        ("CapBnd:\t0000000001000000\n", True),
        (f"CapEff:\t{FULL}\nCapBnd:\t000001fffeffffff\n", False),
        (f"CapEff:\t{FULL}\n", None),
        ("", None),
    ],
)
def test_bounding_set_is_what_counts(status: str, *, expected: bool | None) -> None:
    """CAP_SYS_RESOURCE is bit 24 of it; without it nothing is known."""
    assert within_reach(SYS_RESOURCE, status) is expected
