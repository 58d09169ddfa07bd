"""What has added up since the plugin started: energy, and time at work."""

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Total:
    """Joules drawn, None where the power is not known, and seconds of full use."""

    joules: float | None
    busy_seconds: float


@dataclass(frozen=True, slots=True)
class _Point:
    at: float
    watts: float | None
    utilization: float
    total: Total


class Meter:
    """Integrates by the trapezoid between one look and the next. Safe to use from threads.

    A total never falls: power is not negative, and a clock that is set back adds nothing.
    """

    def __init__(self) -> None:
        self._points: dict[str, _Point] = {}
        self._lock = threading.Lock()

    def read(self, card: str, now: float, watts: float | None, utilization: float) -> Total:
        """Take down what a card does at `now`, in seconds, and return its totals until then."""
        with self._lock:
            before = self._points.get(card) or _Point(now, watts, utilization, Total(0.0, 0.0))
            seconds = max(now - before.at, 0.0)
            busy = before.total.busy_seconds + seconds * (before.utilization + utilization) / 2
            total = Total(_joules(before, watts, seconds), busy)
            self._points[card] = _Point(max(now, before.at), watts, utilization, total)
            return total


def _joules(before: _Point, watts: float | None, seconds: float) -> float | None:
    known = before.total.joules
    if watts is None or before.watts is None:
        return known
    return (known or 0.0) + seconds * (before.watts + watts) / 2
