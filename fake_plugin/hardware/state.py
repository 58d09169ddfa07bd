"""The hardware's state on disk: what is broken stays broken over restarts of plugin and node.

One JSON file, replaced whole by a rename, so that a reader finds the old state or the new one. Its
content carries a checksum: a file that somebody has edited, or a disk has cut short, is set aside
under another name and reported, and the node starts with all of its hardware sound.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

from fake_plugin.files.regular import open_regular
from fake_plugin.files.replacement import remove_abandoned, replace
from fake_plugin.hardware.breakage import Breakage, Kind

_FORMAT: Final = 1
_NAME: Final = "hardware.json"
_READABLE_BY_ALL: Final = 0o644


@dataclass(frozen=True)
class State:
    """All that there is to remember; the keys are the names of cards and partitions.

    `broken` has what is wrong with each, `resets` how often each was reset; `unplugged` cards are
    out of the node; `added` says how many cards a pool has beyond its count.
    """

    broken: Mapping[str, Breakage] = field(default_factory=dict)
    unplugged: frozenset[str] = frozenset()
    added: Mapping[str, int] = field(default_factory=dict)
    resets: Mapping[str, int] = field(default_factory=dict)


class StateFile:
    """The file in the plugin's own folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / _NAME

    def load(self) -> tuple[State, Path | None]:
        """Return the state, and where a file that made no sense was put: None where all was well.

        Raises OSError where there is a file that cannot be read or moved.
        """
        remove_abandoned(self.path.parent)
        try:
            with open_regular(self.path) as file:
                content = file.read()
        except FileNotFoundError:
            return State(), None
        try:
            return _parsed(content), None
        except (ValueError, TypeError, KeyError, RecursionError):
            aside = self.path.with_name(f"{_NAME}.corrupt-{time.time_ns()}")
            self.path.rename(aside)
            return State(), aside

    def save(self, state: State) -> None:
        """Replace the file. Raises OSError where that fails; the old one is then as it was."""
        replace(self.path, [_written(state)], _READABLE_BY_ALL, durable=True)


def _written(state: State) -> str:
    content = {
        "broken": {name: [each.kind, each.code] for name, each in sorted(state.broken.items())},
        "unplugged": sorted(state.unplugged),
        "added": dict(sorted(state.added.items())),
        "resets": dict(sorted(state.resets.items())),
    }
    return _line({"format": _FORMAT, "checksum": _checksum(content), "content": content}) + "\n"


def _parsed(data: bytes) -> State:
    document = json.loads(data)
    content = document["content"]
    if document["format"] != _FORMAT or document["checksum"] != _checksum(content):
        raise ValueError("another format, or a content that is not as it was written")
    return State(
        broken={name: _breakage(*each) for name, each in content["broken"].items()},
        unplugged=frozenset(content["unplugged"]),
        added=content["added"],
        resets=content["resets"],
    )


def _breakage(kind: str, code: str) -> Breakage:
    for known in get_args(Kind):
        if kind == known:
            return Breakage(known, code)
    raise ValueError(f"{kind} is no kind of breakage")


def _checksum(content: Any) -> str:  # noqa: ANN401 - JSON
    return hashlib.sha256(_line(content).encode()).hexdigest()


def _line(value: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
