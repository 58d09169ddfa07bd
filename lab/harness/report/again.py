"""The commands that run the tests of a report again."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from lab.harness.again import of_pytest, of_scenarios
from lab.harness.results import Result

#: `gpulab run` counts its scenarios, for one may run more than once.
_NUMBER: Final = re.compile(r"^\d{3,}-")


def commands(results: Iterable[Result]) -> Iterator[str]:
    """Yield what runs these tests again, once each, on such labs as they had.

    There is one command for scenarios and one for tests of pytest, for each kind of lab.
    """
    found: dict[tuple[bool, tuple[str, ...]], list[str]] = {}
    for each in results:
        found.setdefault(("::" in each.test, each.options), []).append(each.test)
    for (is_pytest, options), tests in sorted(found.items()):
        if is_pytest:
            yield of_pytest(tests, options)
        else:
            yield of_scenarios((_NUMBER.sub("", each) for each in tests), options)
