"""What goes wrong, in the words of the fleet file, which are those of the control API too."""

from typing import Final

from fake_plugin.faults.fault import Fault
from fake_plugin.faults.wording import worded
from fake_plugin.hardware.breakage import Breakage

_SECOND_MS: Final = 1000
_HOUR: Final = 3600
_REASONS: Final = {"xid": "xid", "ecc": "ecc", "fault-code": "code"}


def reason(breakage: Breakage) -> dict[str, object]:
    """Return why a card breaks: one key, or none where nothing is said about it."""
    if breakage.kind == "unspecified":
        return {}
    code: object = int(breakage.code) if breakage.kind == "xid" else breakage.code
    return {_REASONS[breakage.kind]: code}


def fault(rule: Fault) -> dict[str, object]:
    """Return a rule without its ID."""
    keys: dict[str, object] = {
        "call": rule.call,
        "resource": rule.resource,
        "nth": rule.nth,
        "times": rule.times,
        **worded(rule.effect, duration),
    }
    return {key: value for key, value in keys.items() if value is not None}


def duration(seconds: float) -> str:
    """Return seconds, to the millisecond."""
    milliseconds = round(seconds * _SECOND_MS)
    if milliseconds % _SECOND_MS:
        return f"{milliseconds}ms"
    seconds = milliseconds // _SECOND_MS
    # Hours, because a file has six digits for a number.
    return f"{seconds // _HOUR}h" if seconds and seconds % _HOUR == 0 else f"{seconds}s"
