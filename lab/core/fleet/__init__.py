"""The fleet: the one description that everything in a lab is derived from.

    file → tree → document → shares → rules → Fleet
           YAML    shapes    pools    what no single entry can say

`shares` asks the plugin's own reader, and the catalogue. `reading` runs these in order and gathers
what it finds, so that one run names every mistake of a file. The inside of the lab sees only
`Fleet`, which needs neither YAML nor pydantic.
"""

from pathlib import Path

from lab.core.fleet.findings import Finding, FleetError, Position
from lab.core.fleet.held_back import held_back, holdings
from lab.core.fleet.model import Fleet, FleetNode, Pool, Taint

__all__ = [
    "Finding",
    "Fleet",
    "FleetError",
    "FleetNode",
    "Pool",
    "Position",
    "Taint",
    "dump_fleet",
    "held_back",
    "holdings",
    "load_fleet",
]


def load_fleet(path: Path) -> Fleet:
    """Read and validate a fleet file; raise `FleetError` with all that is wrong in it."""
    # `gpulab --help` has 150 ms, and pydantic and PyYAML would take most of them.
    from lab.core.fleet.reading import read_file  # noqa: PLC0415 - see above

    return read_file(path)


def dump_fleet(fleet: Fleet) -> str:
    """Return the fleet as a file, in the form that `load_fleet` and the plugin read.

    Models are spelled out: a node has no catalogue.
    """
    # Most commands write no fleet: see above.
    from lab.core.fleet.writing import written  # noqa: PLC0415 - see above

    return written(fleet)
