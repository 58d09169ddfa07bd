"""What is wrong in a fleet file: where, which key, which rule, and what would be right."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lab.core.errors import UsageError
from lab.core.visible import visible

#: The keys and list indices that lead from the top of the file to a value.
KeyPath: TypeAlias = tuple[str | int, ...]

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_SHOWN_CHARACTERS: Final = 40
_SHOWN_FINDINGS: Final = 20


@dataclass(frozen=True, order=True)
class Position:
    """A place in a file as editors count it: line and column from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; `on_key` where it is the key and not its value."""

    path: KeyPath
    what: str
    rule: str = ""
    remedy: str = ""
    on_key: bool = False
    position: Position | None = None

    def render(self, source: str) -> str:
        """Return `file:line:column: key.path: what (rule); remedy`, without what is not known."""
        place = f":{self.position.line}:{self.position.column}" if self.position else ""
        key = f" {dotted(self.path)}:" if self.path else ""
        rule = f" ({self.rule})" if self.rule else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{source}{place}:{key} {self.what}{rule}{remedy}"


class FleetError(UsageError):
    """A fleet file cannot be used; `findings` are in the order of the file.

    `what` replaces the count of mistakes where the file could not even be looked at.
    """

    def __init__(self, source: str, findings: Sequence[Finding], what: str = "") -> None:
        self.source = source
        self.findings = tuple(sorted(findings, key=lambda each: each.position or Position(0, 0)))
        number = "one mistake" if len(findings) == 1 else f"{len(findings)} mistakes"
        super().__init__(
            what or f"the fleet file has {number}",
            seen="\n".join(self._lines()),
            remedy="correct the file; docs/reference/fleet.md describes every key",
        )

    def _lines(self) -> Iterator[str]:
        for each in self.findings[:_SHOWN_FINDINGS]:
            yield each.render(self.source)
        if len(self.findings) > _SHOWN_FINDINGS:
            yield f"and {len(self.findings) - _SHOWN_FINDINGS} more"


def dotted(path: KeyPath) -> str:
    """Return a path as `pools[0].name`; a key that is no plain word is quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            word = part if _PLAIN_KEY.fullmatch(part) else shown(part)
            text += f".{word}" if text else word
    return text


def pattern(path: KeyPath) -> str:
    """Return a path with its indices left out, as rules name it: `pools[].name`."""
    return re.sub(r"\[\d+\]", "[]", dotted(path))


def shown(value: object) -> str:
    """Return a value as a message quotes it: on one line, short, and told from its look-alikes."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str) and len(value) > _SHOWN_CHARACTERS:
        value = f"{value[:_SHOWN_CHARACTERS]}…"
    return visible(json.dumps(value, ensure_ascii=False))
