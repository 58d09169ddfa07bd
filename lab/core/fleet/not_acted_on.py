"""Keys of the format that this version does not act on: refused by name, never ignored.

A key that is silently without effect makes an experiment pass for the wrong reason. Their shapes
are checked all the same; to act on one is to delete its row.
"""

from collections.abc import Iterator
from typing import Final

from lab import __version__
from lab.core.fleet.findings import Finding, KeyPath
from lab.core.fleet.tree import Plain

#: The key, and what to do instead.
NOT_ACTED_ON: Final = {
    "pools[].accelerator": "give the pool a `resource` instead",
    "pools[].numa": "remove it",
    "pools[].sharing": "remove it",
    "health": "remove it",
    "faults": "remove it",
}


def refusals(data: Plain) -> Iterator[Finding]:
    """Yield a finding for each key of the table that the file holds."""
    for key, remedy in NOT_ACTED_ON.items():
        for path in _present(data, key.replace("[]", ".[]").split("."), ()):
            what = f"is not acted on by this version ({__version__})"
            yield Finding(path, what, remedy=remedy, on_key=True)


def _present(data: Plain, parts: list[str], path: KeyPath) -> Iterator[KeyPath]:
    if not parts:
        yield path
        return
    head, *rest = parts
    if isinstance(data, list) and head == "[]":
        for index, item in enumerate(data):
            yield from _present(item, rest, (*path, index))
    elif isinstance(data, dict) and head in data:
        yield from _present(data[head], rest, (*path, head))
