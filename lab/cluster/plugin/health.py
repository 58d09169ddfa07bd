"""A change of health: what is asked of a plugin, and what came of it."""

from dataclasses import dataclass
from typing import Final, TypedDict, Unpack

from fake_plugin.fleet.script import read_breakage
from fake_plugin.hardware.breakage import Becomes, Breakage
from lab.cluster.plugin.words import Words, by_the_rules
from lab.core.fleet import wording

_UNSAID: Final = Breakage()


class Reason(TypedDict, total=False):
    """Why a card breaks: at most one of an NVIDIA Xid, a kind of ECC error, an Ascend code."""

    xid: int | None
    ecc: str | None
    code: str | None


def breakage(**reason: Unpack[Reason]) -> Breakage:
    """Return what is wrong with a card; raises `UsageError`, which is `GiveOne` for two reasons."""
    with by_the_rules():
        words = Words.given(reason)
        words.only(*Reason.__annotations__)
        return read_breakage(words)


@dataclass(frozen=True)
class HealthChange:
    """What becomes of devices, by what people call them; `devices` None means all of the node.

    With `times` and `every`, in seconds, it happens again and again, and becomes `toggled`.
    """

    devices: tuple[str, ...] | None
    becomes: Becomes
    breakage: Breakage = _UNSAID
    times: int | None = None
    every: float | None = None

    def body(self) -> dict[str, object]:
        """Return it as the control API takes it."""
        body: dict[str, object] = {"becomes": self.becomes, **wording.reason(self.breakage)}
        body |= {"all": True} if self.devices is None else {"devices": [*self.devices]}
        if self.times is not None:
            body["times"] = self.times
        if self.every is not None:
            body["every"] = wording.duration(self.every)
        return body


@dataclass(frozen=True)
class HealthChanged:
    """What became of `count` units; `units` names them, shortened where they are many.

    `ignored`: the vendor's plugin does not count the breakage. `sticky`: what was unhealthy stays
    so until the plugin restarts, though mended.
    """

    count: int
    units: tuple[str, ...]
    becomes: Becomes
    breakage: str | None
    ignored: bool
    sticky: bool


@dataclass(frozen=True)
class Scripted:
    """How many steps of a script are to come."""

    steps: int
