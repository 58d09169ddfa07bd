"""A fleet file with all that a node lacks put in: `python -m lab.core.fleet.inline FILE` prints it.

A node has neither the catalogue nor the files beside the fleet. `gpulab up` hands out the same
form; this is for a plugin that somebody starts by hand.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from lab.core.errors import LabError, UsageError
from lab.core.fleet import dump_fleet, load_fleet


def main(arguments: Sequence[str]) -> int:
    """Print the fleet of a file; return 0, or the exit code of what is wrong with it."""
    try:
        if len(arguments) != 1:
            raise UsageError(
                "one fleet file is needed",
                where="the command line",
                commands=("python -m lab.core.fleet.inline fleets/three-vendors.yaml",),
            )
        sys.stdout.write(dump_fleet(load_fleet(Path(arguments[0]))))
    except LabError as error:
        sys.stderr.write(f"{error.render()}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
