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
        program, name = _named(each.test)
        found.setdefault((program, each.options), []).append(name)
    for (program, options), names in sorted(found.items()):
        once = dict.fromkeys(names)
        behind = any(name.startswith("-") for name in once)
        words = (*options, "--", *once) if behind else (*once, *options)
        yield f"{program} {shlex.join(words)}"


def _named(test: str) -> tuple[str, str]:
    """Return the program that a test is of, and what it is called there."""
    if "::" not in test:
        return "gpulab run", _NUMBER.sub("", test)
    # Behind `--` pytest takes options all the same, and behind `@` a file of arguments.
    return "pytest", f"./{test}" if test.startswith(("-", "@")) else test
