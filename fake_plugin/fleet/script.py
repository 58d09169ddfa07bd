"""The health script of the fleet file: which cards break and mend, and when."""

import re
from typing import Final

from fake_plugin.files.mapping import Mapping
from fake_plugin.hardware.breakage import BECOMES, DOUBLE_BIT, SINGLE_BIT, Breakage, misfit
from fake_plugin.plan import Flap, Share

_KEYS: Final = ("at", "every", "node", "device", "becomes", "xid", "ecc", "code")
_REASONS: Final = ("xid", "ecc", "code")
#: Eight hexadecimal digits, as in 80E01801.
FAULT_CODE: Final = re.compile(r"[0-9A-Fa-f]{8}")


def read_flap(flap: Mapping) -> tuple[str, Flap]:
    """Return the member that a flap is about, `<pool>-<index>`, and the flap.

    Raises `WrongUse` for what is wrong with it alone; the member and its cards are for others.
    """
    flap.only(*_KEYS)
    when = flap.one_of("at", "every")
    member = flap.text("node")
    return member, Flap(
        pool=member.rpartition("-")[0],
        device=flap.number("device", least=0),
        seconds=flap.duration(when),
        repeats=when == "every",
        becomes=flap.choice("becomes", BECOMES),
        breakage=read_breakage(flap),
    )


def require_fit(entry: Mapping, flap: Flap, share: Share) -> None:
    """Raise `WrongUse` for a flap of a card that the share does not have, or that breaks not so."""
    if flap.device >= share.count:
        rule = f"must be below {share.count}, the number of devices of {entry.text('node')}"
        entry.refuse("device", rule)
    vendor = share.accelerator.vendor if share.accelerator else None
    if reason := misfit(flap.breakage, vendor):
        entry.refuse("node", f"does not fit: {reason}")


def read_breakage(flap: Mapping) -> Breakage:
    """Return why a card breaks, by at most one of xid, ecc and code; raises `WrongUse`."""
    if not any(name in flap.values for name in _REASONS):
        return Breakage()
    reason = flap.one_of(*_REASONS)
    if flap.values.get("becomes") == "healthy":
        flap.refuse(reason, "says why a card breaks, and this one becomes healthy")
    if reason == "xid":
        return Breakage("xid", str(flap.number("xid", least=1)))
    if reason == "ecc":
        kinds = {SINGLE_BIT: SINGLE_BIT, DOUBLE_BIT: DOUBLE_BIT}
        return Breakage("ecc", flap.choice("ecc", kinds))
    code = flap.text("code")
    if not FAULT_CODE.fullmatch(code):
        flap.refuse("code", "must be eight hexadecimal digits, as in 80E01801")
    return Breakage("fault-code", code.upper())
