"""A metric as somebody expects it: its name, labels that narrow it, and a comparison."""

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fake_plugin.shortening import few
from lab.cluster.plugin.metrics import Sample
from lab.core.counted import counted
from lab.core.errors import UsageError
from lab.harness.sight import MET, NotYet, Sight

_SHOWN: Final = 4
_COMPARISON: Final = re.compile(r"(?P<sign>[=!<>]=|[<>])\s*(?P<number>\S+)")
#: PromQL's, by the same signs.
_SIGNS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}


@dataclass(frozen=True)
class Comparison:
    """A number, and how a value is to compare with it."""

    sign: str
    number: float

    @classmethod
    def of(cls, said: float | str) -> "Comparison":
        """Return what a number says, which is to be equal, or a text as `>= 0.5`."""
        if not isinstance(said, str):
            return cls("==", said)
        found = _COMPARISON.fullmatch(said.strip())
        try:
            return cls(found["sign"], float(found["number"])) if found else cls("==", float(said))
        except ValueError as problem:
            raise UsageError(
                f"{said!r} compares with nothing: a value is a number, or one with a sign",
                seen=f"signs: {', '.join(_SIGNS)}",
                remedy="write it as in PromQL, such as 79, '> 0' or '<= 0.5'",
            ) from problem

    def holds(self, value: float) -> bool:
        """Whether it is so of a value."""
        return _SIGNS[self.sign](value, self.number)

    def __str__(self) -> str:
        return f" {self.sign} {_written(self.number)}"


@dataclass(frozen=True)
class Series:
    """The series of a metric with these labels, and any others; "" is a label that is not there."""

    name: str
    labels: Mapping[str, str | int]

    def of(self, scraped: Iterable[Sample]) -> list[Sample]:
        """Return those of the samples that are of these series."""
        return [
            each
            for each in scraped
            if each.name == self.name
            and all(each.labels.get(key, "") == str(value) for key, value in self.labels.items())
        ]

    def compared(self, scraped: Sequence[Sample], comparison: Comparison | None) -> Sight:
        """Look whether there is one of which it is so; None for one of any value."""
        found = self.of(scraped)
        if any(comparison is None or comparison.holds(each.value) for each in found):
            return MET
        return NotYet(self.told(found) if found else self._what_else(scraped))

    def told(self, found: Sequence[Sample]) -> str:
        """Return some series with their values, by as few labels as tell them apart."""
        keys = _telling(found, [*self.labels])
        lines = (
            f"{Series(each.name, {key: each.labels.get(key, '') for key in keys})} "
            f"{_written(each.value)}"
            for each in found
        )
        return "\n".join(few(lines, _SHOWN))

    def _what_else(self, scraped: Sequence[Sample]) -> str:
        if others := Series(self.name, {}).of(scraped):
            return f"other series only:\n{self.told(others)}"
        names = dict.fromkeys(each.name for each in scraped)
        close = difflib.get_close_matches(self.name, names, n=_SHOWN)
        nearest = f"; the nearest: {', '.join(close)}" if close else ""
        return f"none of its {counted(len(names), 'metric')} has that name{nearest}"

    def __str__(self) -> str:
        pairs = ", ".join(f'{key}="{value}"' for key, value in self.labels.items())
        return f"{self.name}{{{pairs}}}" if pairs else self.name


def _telling(found: Sequence[Sample], keys: list[str]) -> list[str]:
    """Return these labels, and those behind them that it takes to tell the samples apart."""
    told = _ways(found, keys)
    for key in found[0].labels:
        if told == len(found):
            break
        if (more := _ways(found, [*keys, key])) > told:
            keys, told = [*keys, key], more
    return keys


def _ways(found: Sequence[Sample], keys: Sequence[str]) -> int:
    return len({tuple(each.labels.get(key, "") for key in keys) for each in found})


def _written(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
