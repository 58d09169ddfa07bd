"""The scenarios that there are."""

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from lab.core.errors import UsageError
from lab.core.fleet import Fleet, load_fleet
from lab.harness.scenario import Scenario

#: The package of the scenarios, which knows the harness and not the other way round.
_PACKAGE: Final = "scenarios"
_SHOWN: Final = 12


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

    A section stands for those below it, too. Raises `UsageError` for what matches none.
    """
    known = scenarios()
    _require("name", names, {each.name for each in known})
    _require("section", sections, {part for each in known for part in _above(each.section)})
    _require("tag", tags, {tag for each in known for tag in each.tags})
    return tuple(
        each
        for each in known
        if (not names or each.name in names)
        and (not sections or set(_above(each.section)) & set(sections))
        and (not tags or each.tags & set(tags))
    )


def fleet_of(scenario: Scenario) -> Fleet:
    """Return the fleet that a scenario needs; raises `FleetError` where the file is wrong."""
    return fleet_named(scenario.fleet)


def fleet_named(name: str) -> Fleet:
    """Return the fleet of this name in scenarios/fleets; raises `FleetError` as above."""
    file = resources.files(_PACKAGE).joinpath("fleets", f"{name}.yaml")
    with resources.as_file(file) as path:
        return load_fleet(Path(path))


def fleet_names() -> tuple[str, ...]:
    """Return the names of the fleets in scenarios/fleets."""
    files = resources.files(_PACKAGE).joinpath("fleets").iterdir()
    return tuple(sorted(each.name.removesuffix(".yaml") for each in files))


def _in(module: str) -> Scenario:
    found = importlib.import_module(f"{_PACKAGE}.{module}")
    own = [each for each in vars(found).values() if isinstance(each, Scenario)]
    if [each.name for each in own] != [module]:
        names = ", ".join(each.name for each in own) or "none"
        raise ValueError(f"{found.__file__} must have one scenario, {module}; it has {names}")
    return own[0]


def _require(what: str, asked: Iterable[str], known: set[str]) -> None:
    unknown = sorted(set(asked) - known)
    if unknown:
        shown = sorted(known)
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        raise UsageError(
            f"no scenario has the {what} {unknown[0]!r}",
            seen=f"{what}s that there are: {', '.join(shown[:_SHOWN])}{more}",
            remedy="see which there are",
            commands=("gpulab list",),
        )


def _above(section: str) -> tuple[str, ...]:
    """Return a section and those that it is part of, as 4.10.5, 4.10 and 4."""
    parts = section.split(".")
    return tuple(".".join(parts[:length]) for length in range(len(parts), 0, -1))


def _numbers(section: str) -> tuple[int, ...]:
    return tuple(map(int, section.split(".")))
