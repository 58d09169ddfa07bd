"""Numbers in the status of a node look as the API server writes them."""

import pytest

from lab.embedded.quantity import decimal_si


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (8, "8"),
        (10, "10"),
        (100, "100"),
        (999, "999"),
        (1000, "1k"),
        (1500, "1500"),
        (12_000, "12k"),
        (50_000, "50k"),
        (100_000, "100k"),
        (1_000_000, "1M"),
        (10**18, "1E"),
        (10**21, "1000E"),
    ],
)
def test_a_suffix_is_used_where_it_loses_nothing(number: int, text: str) -> None:
    """Seen on a real node: 12000 devices are "12k", and 50000 are "50k"."""
    assert decimal_si(number) == text
