"""What one look at the cluster shows of what is awaited."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Final, ParamSpec, TypeAlias

from lab.core.errors import CheckFailed

#: A plugin that has said nothing for so long is not waited for any more.
_SILENT_SECONDS: Final = 30.0

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
    """It is not so and cannot become so any more: nobody need wait for the deadline.

    `remedy` and `commands` are what to do about that, where it is something of its own.
    """

    seen: str
    remedy: str = ""
    commands: tuple[str, ...] = ()


Sight: TypeAlias = Met | NotYet | Hopeless

MET = Met()


def once_answered(look: Callable[P, Sight]) -> Callable[P, Sight]:
    """Return how to look at what a node's plugin tells, which does not answer while it starts.

    One that starts refuses to be called; one that says nothing is given up, as on a paused node.
    """

    @wraps(look)
    def looking(*given: P.args, **named: P.kwargs) -> Sight:
        try:
            return look(*given, **named)
        except CheckFailed as problem:
            from lab.cluster.silence import NodeSilent  # noqa: PLC0415 - loads the client library

            if isinstance(problem, NodeSilent) and problem.lasting >= _SILENT_SECONDS:
                return Hopeless(problem.brief, problem.remedy, problem.commands)
            return NotYet(problem.brief)

    return looking
