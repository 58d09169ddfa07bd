"""The fleets that scenarios are written for, by their names."""

from importlib import resources
from pathlib import Path
from typing import Final

from lab.core.fleet import Fleet, load_fleet

_PACKAGE: Final = "scenarios"


def fleet_named(name: str) -> Fleet:
    """Return the fleet of this name in scenarios/fleets.

    Raises `FleetError` where the file is wrong.
    """
    file = resources.files(_PACKAGE).joinpath("fleets", f"{name}.yaml")
    with resources.as_file(file) as path:
        return load_fleet(Path(path))


def fleet_names() -> tuple[str, ...]:
    """Return the names of the fleets in scenarios/fleets."""
    files = resources.files(_PACKAGE).joinpath("fleets").iterdir()
    return tuple(sorted(each.name.removesuffix(".yaml") for each in files))
