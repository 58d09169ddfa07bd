"""When something happened, as exactly as it is known."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import JsonValue

#: `millisecond` or better; `second`, in which it happened; `bound`, it happened between two
#: moments, of which the first may be missing; `unknown`.
Precision = Literal["millisecond", "second", "bound", "unknown"]

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Moment:
    """A time in UTC. For a bound it is the latest that it can have been, and `after` the earliest.

    Kubernetes keeps most of its times in whole seconds, cut off and not rounded.
    """

    precision: Precision
    at: datetime | None = None
    after: datetime | None = None

    @classmethod
    def exact(cls, at: datetime) -> "Moment":
        """Return a time that was taken to the millisecond."""
        return cls("millisecond", at.astimezone(UTC))

    @classmethod
    def told(cls, at: datetime | None) -> "Moment":
        """Return a time of the API: those of events are exact, others are whole seconds."""
        if at is None:
            return UNKNOWN
        return cls("millisecond" if at.microsecond else "second", at.astimezone(UTC))

    @classmethod
    def between(cls, after: datetime | None, at: datetime | None) -> "Moment":
        """Return that it was not before one moment, nor after the other."""
        if at is None:
            return UNKNOWN
        return cls("bound", at.astimezone(UTC), after.astimezone(UTC) if after else None)

    @property
    def earliest(self) -> datetime | None:
        """Return the earliest that it can have been, None where nothing is known of that."""
        return self.after if self.precision == "bound" else self.at

    @property
    def latest(self) -> datetime | None:
        """Return the latest that it can have been."""
        return self.at + _SECOND if self.at and self.precision == "second" else self.at

    def text(self, day: datetime | None = None) -> str:
        """Return it for people; the date is left out where it is that of `day`."""
        if self.at is None:
            return "-"
        at = _clock(self.at, day, "seconds" if self.precision == "second" else "milliseconds")
        if self.precision != "bound":
            return at
        return f"{_clock(self.after, day, 'milliseconds')} … {at}" if self.after else f"≤ {at}"

    def as_json(self) -> dict[str, JsonValue]:
        """Return the contract for tools."""
        timespec = "seconds" if self.precision == "second" else "milliseconds"
        return {
            "precision": self.precision,
            "time": self.at.isoformat(timespec=timespec) if self.at else None,
            "notBefore": self.after.isoformat(timespec=timespec) if self.after else None,
        }


UNKNOWN = Moment("unknown")


def _clock(at: datetime, day: datetime | None, timespec: Literal["milliseconds", "seconds"]) -> str:
    time = at.time().isoformat(timespec)
    return time if day and day.date() == at.date() else f"{at.date()} {time}"
