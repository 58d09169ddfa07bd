"""What one look at the cluster shows of what is awaited."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeAlias

from lab.core.errors import CheckFailed

P = ParamSpec("P")


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


def once_answered(look: Callable[P, Sight]) -> Callable[P, Sight]:
    """Return how to look at what a node's plugin tells, which does not answer while it starts."""

    @wraps(look)
    def looking(*given: P.args, **named: P.kwargs) -> Sight:
        try:
            return look(*given, **named)
        except CheckFailed as problem:
            return NotYet(problem.brief)

    return looking
