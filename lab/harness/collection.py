"""The scenarios that there are."""

import difflib
import importlib
import pkgutil
import shlex
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Final

from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.harness.fleets import fleet_named
from lab.harness.scenario import Scenario

#: The package of the scenarios, which knows the harness and not the other way round.
_PACKAGE: Final = "scenarios"
#: So many that are near are told.
_CLOSE: Final = 3


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Return all scenarios, in the order of the chapter and by name.

    Raises `ValueError` for a file that has not exactly one scenario, of its own name.
    """
    package = importlib.import_module(_PACKAGE)
    found = [_in(each.name) for each in pkgutil.iter_modules(package.__path__)]
    return tuple(sorted(found, key=lambda each: (_numbers(each.section), each.name)))


def chosen(
    names: Sequence[str] = (), sections: Sequence[str] = (), tags: Sequence[str] = ()
) -> tuple[Scenario, ...]:
    """Return the scenarios of these names, and of these sections and tags where some are given.

    A section stands for those below it, too. Raises `UsageError` for what matches none, each for
    itself or all of it together.
    """
    known = scenarios()
    _require("name", names, {each.name for each in known}, listed=False)
    parts = {part for each in known for part in _above(each.section)}
    _require("section", sections, sorted(parts, key=_numbers))
    _require("tag", tags, sorted({tag for each in known for tag in each.tags}))
    found = tuple(
        each
        for each in known
        if (not names or each.name in names)
        and (not sections or set(_above(each.section)) & set(sections))
        and (not tags or each.tags & set(tags))
    )
    if not found:
        raise _nothing_has_all_of(names, sections, tags)
    return found


def fleet_of(scenario: Scenario) -> Fleet:
    """Return the fleet that a scenario needs; raises `FleetError` where the file is wrong."""
    return fleet_named(scenario.fleet)


def _in(module: str) -> Scenario:
    found = importlib.import_module(f"{_PACKAGE}.{module}")
    own = [each for each in vars(found).values() if isinstance(each, Scenario)]
    if [each.name for each in own] != [module]:
        names = ", ".join(each.name for each in own) or "none"
        raise ValueError(f"{found.__file__} must have one scenario, {module}; it has {names}")
    return own[0]


def _require(
    what: str, asked: Iterable[str], known: Collection[str], *, listed: bool = True
) -> None:
    """Raise `UsageError` for what is not known; of many names, those that are near are told."""
    unknown = sorted(set(asked) - {*known})
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=_CLOSE)
        there = f"{what}s that there are: {', '.join(known)}" if listed else ""
        raise UsageError(
            f"no scenario has the {what} {unknown[0]!r}",
            seen=f"{what}s that are near: {', '.join(near)}" if near else there,
            remedy=f"did you mean {near[0]}? See which there are"
            if near
            else "see which there are",
            commands=("gpulab list",),
        )


def _nothing_has_all_of(
    names: Sequence[str], sections: Sequence[str], tags: Sequence[str]
) -> UsageError:
    kinds = (("name", names), ("section", sections), ("tag", tags))
    asked = [f"{what} {' or '.join(map(repr, found))}" for what, found in kinds if found]
    alone = [("--section", each) for each in sections] + [("--tag", each) for each in tags]
    return UsageError(
        f"no scenario has all of: {', '.join(asked)}",
        seen="each of them has some",
        remedy="ask for less, or see what one of them has",
        commands=tuple(f"gpulab list {option} {shlex.quote(each)}" for option, each in alone),
    )


def _above(section: str) -> tuple[str, ...]:
    """Return a section and those that it is part of, as 4.10.5, 4.10 and 4."""
    parts = section.split(".")
    return tuple(".".join(parts[:length]) for length in range(len(parts), 0, -1))


def _numbers(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))
