"""What can be wrong with a card, in the words of its vendor."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from fake_plugin.hardware.accelerator import Vendor

Kind: TypeAlias = Literal["unspecified", "xid", "ecc", "fault-code"]
#: What a change makes of units: `toggled` mends the broken ones, and breaks the sound ones.
Becomes: TypeAlias = Literal["healthy", "unhealthy", "toggled"]
BECOMES: Final[Mapping[str, Becomes]] = {each: each for each in get_args(Becomes)}

#: Errors of the application and not of the card: NVIDIA's plugin does not call the card unhealthy.
#: Source: NVIDIA/k8s-device-plugin, internal/rm/health.go.
IGNORED_XIDS: Final = frozenset({13, 31, 43, 45, 68, 109})
SINGLE_BIT: Final = "single-bit"
DOUBLE_BIT: Final = "double-bit"
#: Whose cards can break in which way; any can without a word about why.
_OF: Final[dict[Kind, tuple[Vendor, ...]]] = {
    "xid": ("nvidia",),
    "ecc": ("nvidia", "amd"),
    "fault-code": ("ascend",),
}


@dataclass(frozen=True, slots=True)
class Breakage:
    """A fault of a card; `code` is the Xid's number, the kind of ECC error, Ascend's hex code."""

    kind: Kind = "unspecified"
    code: str = ""

    @property
    def is_ignored(self) -> bool:
        """Whether the vendor's plugin lets the card count as healthy in spite of it.

        NVIDIA's listens for both kinds of ECC errors and skips them: only an Xid counts. An error
        of two bits comes with one that does, 48; that of one bit was corrected, and has none.
        """
        if self.kind == "xid":
            return int(self.code) in IGNORED_XIDS
        return self == Breakage("ecc", SINGLE_BIT)

    def __str__(self) -> str:
        return f"{self.kind} {self.code}".strip()


def misfit(breakage: Breakage, vendor: Vendor | None) -> str:
    """Return why a card of that vendor, None for a plain device, cannot break so, or ""."""
    vendors = _OF.get(breakage.kind)
    if vendors is None or vendor in vendors:
        return ""
    cards = f"{vendor} cards" if vendor else "devices without a vendor"
    return f"{cards} have no {breakage.kind}: that is for {' and '.join(vendors)}"
