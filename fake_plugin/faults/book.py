"""The rules of a node by which calls go wrong, live: added and removed while calls are waiting."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

from fake_plugin.faults.fault import Call, Effect, Fault


@dataclass(frozen=True)
class Entry:
    """A rule, how many calls it has matched (`seen`), and how many of them met it (`hit`)."""

    fault: Fault
    seen: int = 0
    hit: int = 0

    @property
    def is_spent(self) -> bool:
        """Whether the rule holds for no further call."""
        window = _window(self.fault)
        return window is not None and self.seen >= window.stop - 1

    @property
    def holds_next(self) -> bool:
        """Whether the rule holds for the next call that matches."""
        window = _window(self.fault)
        return window is None or self.seen + 1 in window


class FaultBook:
    """Knows the rules, counts calls for each, and lets calls wait. Safe to use from threads."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._entries = {fault.id: Entry(fault) for fault in faults}
        self._numbers = count(1)
        self._changed = threading.Condition()
        self._on_removal: list[Callable[[], object]] = []
        self._when_gone: dict[str, set[Callable[[], object]]] = {}

    def call_on_removal(self, function: Callable[[], object]) -> None:
        """Have a function called whenever rules were removed; it must not wait."""
        self._on_removal.append(function)

    def when_gone(self, fault: Fault, function: Callable[[], object]) -> None:
        """Have a function called once, when a rule is removed, or now where it was.

        It must not wait. The same one, given again, is called once all the same.
        """
        with self._changed:
            is_there = fault.id in self._entries
            if is_there:
                self._when_gone.setdefault(fault.id, set()).add(function)
        if not is_there:
            function()

    def has_all(self, fault_ids: Iterable[str]) -> bool:
        """Tell whether none of these rules was removed."""
        with self._changed:
            return all(fault_id in self._entries for fault_id in fault_ids)

    def meet(self, call: Call, resource: str) -> Fault | None:
        """Count a call for every rule that matches; return the first that holds for it.

        A rule whose turn has passed leaves later calls to the rules after it.
        """
        met: Fault | None = None
        with self._changed:
            for key, entry in self._entries.items():
                fault = entry.fault
                if fault.call != call or fault.resource not in {None, resource}:
                    continue
                meets = met is None and entry.holds_next
                self._entries[key] = Entry(fault, entry.seen + 1, entry.hit + meets)
                met = fault if meets else met
        return met

    def add(
        self,
        call: Call,
        effect: Effect,
        resource: str | None = None,
        nth: int | None = None,
        times: int | None = None,
    ) -> Fault:
        """Make a rule, with an ID of its own, after those that are there."""
        with self._changed:
            fresh = next(name for n in self._numbers if (name := f"rule-{n}") not in self._entries)
            fault = Fault(fresh, call, effect, resource, nth, times)
            self._entries[fresh] = Entry(fault)
        return fault

    def remove(self, fault_id: str) -> bool:
        """Remove a rule, and let go the calls that it holds; False where there is none."""
        with self._changed:
            found = self._entries.pop(fault_id, None)
            self._changed.notify_all()
        self._tell_of_removal([fault_id])
        return found is not None

    def clear(self) -> int:
        """Remove all rules; return how many there were."""
        with self._changed:
            gone = list(self._entries)
            self._entries.clear()
            self._changed.notify_all()
        self._tell_of_removal(gone)
        return len(gone)

    def entries(self) -> tuple[Entry, ...]:
        """Return the rules in the order in which they are asked."""
        with self._changed:
            return tuple(self._entries.values())

    def wait_out(
        self, fault: Fault, is_over: Callable[[], bool], seconds: float | None = None
    ) -> None:
        """Wait that long, or without an end; less where the rule goes or `is_over` holds.

        `is_over` is asked at once and at every `wake`, with a lock held: it must not wait.
        """
        with self._changed:
            self._changed.wait_for(lambda: fault.id not in self._entries or is_over(), seconds)

    def wake(self) -> None:
        """Let all who wait look at their `is_over` again."""
        with self._changed:
            self._changed.notify_all()

    def _tell_of_removal(self, gone: Iterable[str]) -> None:
        with self._changed:
            waiting = [each for name in gone for each in self._when_gone.pop(name, ())]
        for function in (*self._on_removal, *waiting):
            function()


def _window(fault: Fault) -> range | None:
    """Return the calls for which a rule holds, counted from 1; None for all."""
    if fault.nth is None and fault.times is None:
        return None
    first = fault.nth or 1
    return range(first, first + (fault.times or 1))
