"""Which cards can break in which way, and what is said of a way that they cannot."""

import pytest

from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.hardware.breakage import Breakage, misfit


@pytest.mark.parametrize(
    ("breakage", "vendor", "words"),
    [
        (Breakage(), None, ""),
        (Breakage("xid", "79"), "nvidia", ""),
        (Breakage("ecc", "double-bit"), "nvidia", ""),
        (Breakage("ecc", "double-bit"), "amd", ""),
        (Breakage("fault-code", "80E01801"), "ascend", ""),
        (Breakage("xid", "79"), "amd", "amd cards have no xid: that is for nvidia"),
        (
            Breakage("ecc", "single-bit"),
            "ascend",
            "ascend cards have no ecc: that is for nvidia and amd",
        ),
        (
            Breakage("fault-code", "80E01801"),
            None,
            "devices without a vendor have no fault-code: that is for ascend",
        ),
    ],
)
def test_a_way_to_break_belongs_to_vendors(
    breakage: Breakage, vendor: Vendor | None, words: str
) -> None:
    """Any card breaks without a reason; the refusal says whose the reason is."""
    assert misfit(breakage, vendor) == words
