"""The commands that run tests again, whatever their names begin with."""

import shlex
from collections.abc import Iterable
from typing import Final

#: pytest takes options behind `--` all the same, and behind `@` a file of arguments.
_NOT_NAMES: Final = ("-", "@")


def of_pytest(tests: Iterable[str], options: Iterable[str]) -> str:
    """Return what runs tests of pytest by their IDs, once each, with these options."""
    named = (f"./{each}" if each.startswith(_NOT_NAMES) else each for each in dict.fromkeys(tests))
    return shlex.join(("pytest", *named, *options))


def of_scenarios(names: Iterable[str], options: Iterable[str]) -> str:
    """Return what runs scenarios by their names, once each, with these options."""
    once = tuple(dict.fromkeys(names))
    behind = any(each.startswith("-") for each in once)
    words = (*options, "--", *once) if behind else (*once, *options)
    return shlex.join(("gpulab", "run", *words))
