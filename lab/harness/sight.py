"""What one look at the cluster shows of what is awaited."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Met:
    """It is so."""


@dataclass(frozen=True)
class NotYet:
    """It is not so; `seen` is what is there instead."""

    seen: str


@dataclass(frozen=True)
class Hopeless:
    """It is not so and cannot become so any more: nobody need wait for the deadline."""

    seen: str


Sight: TypeAlias = Met | NotYet | Hopeless

MET = Met()
