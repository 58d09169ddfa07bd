"""The commands that run tests again."""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Final

from lab.harness.results import Result

#: `gpulab run` counts its scenarios, for one may run more than once.
_NUMBER: Final = re.compile(r"^\d{3,}-")


def commands(results: Iterable[Result]) -> Iterator[str]:
    """Yield what runs these tests again, once each, on such labs as they had.

    There is one command for scenarios and one for tests of pytest, for each kind of lab.
    """
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for each in results:
        program = "pytest" if "::" in each.test else "gpulab run"
        name = each.test if program == "pytest" else _NUMBER.sub("", each.test)
        found.setdefault((program, each.options), []).append(name)
    for (program, options), names in sorted(found.items()):
        yield f"{program} {shlex.join((*dict.fromkeys(names), *options))}"
