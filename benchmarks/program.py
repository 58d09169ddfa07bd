"""What the programs of benchmarks and checks have in common: counts as options, and their ends."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from lab.core.errors import LabError
from lab.core.exit_codes import ExitCode


def positive(text: str) -> int:
    """Return the count that an option says."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it must be 1 or more")
    return number


def run(main: Callable[[Sequence[str]], int]) -> NoReturn:
    """Run a program with this process's arguments, and end with its exit code."""
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        print(error.render(), file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(ExitCode.INTERRUPTED)
