"""The commands that run tests again."""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Final

#: `gpulab run` counts its scenarios, for one may run more than once.
_NUMBER: Final = re.compile(r"^\d{3,}-")


def commands(tests: Iterable[str]) -> Iterator[str]:
    """Yield what runs these tests again, once each: one command for scenarios, one for pytest."""
    named = [*tests]
    of_pytest = [each for each in named if "::" in each]
    scenarios = [_NUMBER.sub("", each) for each in named if "::" not in each]
    for program, names in (("gpulab run", scenarios), ("pytest", of_pytest)):
        if names:
            yield f"{program} {shlex.join(dict.fromkeys(names))}"
