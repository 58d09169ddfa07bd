"""The hardware of a node, live: everything that happens to it goes through here.

Two things are told apart. What the hardware is, broken or sound, outlives the plugin in a file.
What the plugin says of it is the same where health recovers; where the policy is sticky, as with
NVIDIA's plugin, a unit that was unhealthy once stays so until the plugin starts again.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from fake_plugin.hardware.breakage import Becomes, Breakage
from fake_plugin.hardware.state import State, StateFile

#: Tells of a unit and what is wrong with it whether the plugin calls it healthy all the same.
Ignores: TypeAlias = Callable[[str, Breakage], bool]
#: Called after a change, without a lock held, from the thread that made it.
Reaction = Callable[[], None]


def usual(_unit: str, breakage: Breakage) -> bool:
    """Ignore what NVIDIA's plugin ignores without being told to."""
    return breakage.is_ignored


class Board:
    """Breaks, mends, unplugs and plugs. Safe to use from several threads.

    A unit is named by the `uid` of a card or a partition; whether such a unit exists is for the
    caller to know. A change that cannot be written raises OSError, and has not happened.

    `sticky` is the policy of all units; where it is False, `make_sticky` excepts some.
    """

    def __init__(
        self, file: StateFile, state: State, *, sticky: bool, ignores: Ignores = usual
    ) -> None:
        self._file = file
        self._state = state
        self._sticky = sticky
        self._sticky_units = set[str]()
        self.ignores = ignores
        self._was_unhealthy = self._unhealthy(state)
        self._lock = threading.Lock()
        self._reactions: list[Reaction] = []

    @property
    def state(self) -> State:
        """Return what is remembered, as it is now."""
        return self._state

    def listen(self, reaction: Reaction) -> None:
        """Have `reaction` called after every change."""
        self._reactions.append(reaction)

    def breakage(self, *units: str) -> Breakage | None:
        """Return what is wrong with the first of the units that has something wrong, or None."""
        broken = self._state.broken
        return next((broken[unit] for unit in units if unit in broken), None)

    def unhealthy(self) -> frozenset[str]:
        """Return the units that the plugin calls unhealthy; a card stands for its partitions."""
        if self._sticky:
            return self._was_unhealthy
        return self._unhealthy(self._state) | (self._was_unhealthy & self._sticky_units)

    def is_sticky(self, unit: str) -> bool:
        """Tell whether a unit that was unhealthy once stays so until the plugin restarts."""
        return self._sticky or unit in self._sticky_units

    def make_sticky(self, units: Iterable[str]) -> None:
        """Have units stay unhealthy among others that recover."""
        self._sticky_units.update(units)

    def change_units(self, units: Iterable[str], becomes: Becomes, breakage: Breakage) -> None:
        """Make units healthy or unhealthy, or toggle them; `breakage` is of those that break."""
        match becomes:
            case "healthy":
                self.mend_units(units)
            case "unhealthy":
                self.break_units(units, breakage)
            case "toggled":
                self.toggle_units(units, breakage)

    def break_units(self, units: Iterable[str], breakage: Breakage) -> None:
        """Break units, each in this way, whatever was wrong with it before."""
        broken = dict.fromkeys(units, breakage)
        self._change(lambda state: replace(state, broken={**state.broken, **broken}))

    def mend_units(self, units: Iterable[str]) -> None:
        """Make units sound."""
        mended = frozenset(units)
        self._change(lambda state: replace(state, broken=_without(state.broken, mended)))

    def toggle_units(self, units: Iterable[str], breakage: Breakage) -> None:
        """Mend those units that are broken, break those that are sound."""
        named = frozenset(units)
        self._change(lambda state: replace(state, broken=_toggled(state.broken, named, breakage)))

    def unplug(self, cards: Iterable[str]) -> None:
        """Take cards out of the node. What is broken about them goes with them, and comes back."""
        gone = frozenset(cards)
        self._change(lambda state: replace(state, unplugged=state.unplugged | gone))

    def plug(self, cards: Iterable[str]) -> None:
        """Put unplugged cards back."""
        back = frozenset(cards)
        self._change(lambda state: replace(state, unplugged=state.unplugged - back))

    def add(self, pool: str, number: int) -> None:
        """Add cards to a pool, beyond its count."""
        self._change(
            lambda state: replace(
                state, added={**state.added, pool: state.added.get(pool, 0) + number}
            )
        )

    def reset(self, units: Iterable[str]) -> None:
        """Count a reset of each unit, as a real PreStartContainer makes one."""
        wanted = tuple(units)
        self._change(
            lambda state: replace(
                state,
                resets={**state.resets, **{u: state.resets.get(u, 0) + 1 for u in wanted}},
            )
        )

    def clear(self) -> None:
        """Mend and plug everything, take out what was added; resets stay counted."""
        self._change(lambda state: State(resets=state.resets))

    def _change(self, changed: Callable[[State], State]) -> None:
        with self._lock:
            state = changed(self._state)
            if state == self._state:
                return
            self._file.save(state)
            self._state = state
            self._was_unhealthy |= self._unhealthy(state)
        for reaction in self._reactions:
            reaction()

    def _unhealthy(self, state: State) -> frozenset[str]:
        return frozenset(
            unit for unit, each in state.broken.items() if not self.ignores(unit, each)
        )


def _without(broken: Mapping[str, Breakage], units: Collection[str]) -> dict[str, Breakage]:
    return {unit: each for unit, each in broken.items() if unit not in units}


def _toggled(
    broken: Mapping[str, Breakage], units: frozenset[str], breakage: Breakage
) -> dict[str, Breakage]:
    return _without(broken, units) | dict.fromkeys(units.difference(broken), breakage)
