"""Which errors of its cards NVIDIA's plugin takes notice of, by two variables of its environment.

    DP_DISABLE_HEALTHCHECKS   Xids that do not count, with commas between; all or xids: none counts
    DP_ENABLE_HEALTHCHECKS    Xids that count though the other says no, or are on the built-in list;
                              all or xids: every Xid counts

Where the first says all and the second does not, no card is ever unhealthy, also where the second
names some Xids: upstream does not even listen then.

Source: NVIDIA/k8s-device-plugin, internal/rm/health.go.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fake_plugin.hardware.breakage import DOUBLE_BIT, IGNORED_XIDS, Breakage

DISABLE: Final = "DP_DISABLE_HEALTHCHECKS"
ENABLE: Final = "DP_ENABLE_HEALTHCHECKS"
VARIABLES: Final = (DISABLE, ENABLE)
_ALL: Final = 0
_DIGITS: Final = 19
#: The Xid that comes with an ECC error of two bits.
_DOUBLE_BIT_XID: Final = 48
#: How the IDs of GPUs and of MIG devices begin, and no other vendor's.
_OF_NVIDIA: Final = ("GPU-", "MIG-")


@dataclass(frozen=True)
class HealthChecks:
    """What counts: of each Xid that is named, whether it is disabled; 0 stands for all."""

    disabled: Mapping[int, bool]
    malformed: tuple[str, ...] = ()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "HealthChecks":
        """Return what the variables say; values that are no Xid are passed over, as upstream."""
        malformed: list[str] = []
        named = dict.fromkeys(_xids(environment.get(DISABLE, ""), malformed), True)
        enabled = dict.fromkeys(_xids(environment.get(ENABLE, ""), malformed), False)
        return cls(named | dict.fromkeys(IGNORED_XIDS, True) | enabled, tuple(malformed))

    @property
    def are_off(self) -> bool:
        """Whether no error counts."""
        return self.disabled.get(_ALL, False)

    def ignores(self, unit: str, breakage: Breakage) -> bool:
        """Tell whether the plugin calls a unit healthy in spite of what is wrong with it."""
        if not unit.startswith(_OF_NVIDIA):
            return breakage.is_ignored
        if self.are_off:
            return True
        if breakage.kind == "xid":
            return self._is_disabled(int(breakage.code))
        if breakage == Breakage("ecc", DOUBLE_BIT):
            return self._is_disabled(_DOUBLE_BIT_XID)
        return breakage.is_ignored

    def _is_disabled(self, xid: int) -> bool:
        return _ALL not in self.disabled and self.disabled.get(xid, False)


def _xids(value: str, malformed: list[str]) -> Iterator[int]:
    texts = [text.strip() for text in value.lower().split(",")]
    for text in texts:
        if text in {"all", "xids"}:
            yield _ALL
        elif text.isascii() and text.isdigit() and len(text) <= _DIGITS:
            yield int(text)
        elif text:
            malformed.append(text)
