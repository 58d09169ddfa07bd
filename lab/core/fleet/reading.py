"""A fleet file read and validated in one run that gathers all it finds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar, cast

from pydantic import BaseModel, ValidationError

from lab.core.fleet.document import FaultEntry, FlapEntry, FleetDocument, PoolEntry
from lab.core.fleet.explanation import explained
from lab.core.fleet.findings import Finding, FleetError, KeyPath, Position, shown
from lab.core.fleet.model import API_VERSION, Fleet, Pool
from lab.core.fleet.not_acted_on import refusals
from lab.core.fleet.rules import Sound, broken_rules
from lab.core.fleet.tree import Plain, Tree, parse

#: A fleet is a page of text: what is larger is another file.
MOST_BYTES: Final = 1024 * 1024

_Entry = TypeVar("_Entry", bound=BaseModel)


def read_file(path: Path) -> Fleet:
    """Read a fleet file. Raises `FleetError` with all that is wrong in it."""
    return read_text(_text(path), str(path))


def read_text(text: str, source: str) -> Fleet:
    """Read a fleet from text; `source` is what errors call it."""
    tree = parse(text, source)
    foreign = _foreign_version(tree)
    if foreign:
        raise FleetError(source, [_placed(tree, foreign)])
    findings = list(_findings(tree))
    if findings:
        raise FleetError(source, [_placed(tree, each) for each in findings])
    document = FleetDocument.model_validate(tree.data)
    return Fleet(tuple(_pool(entry) for entry in document.pools))


def _text(path: Path) -> str:
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        unread = Finding((), reason)
        raise FleetError(source, [unread], "the fleet file cannot be read") from error
    if len(raw) > MOST_BYTES:
        raise FleetError(source, [Finding((), "is too large", f"at most {MOST_BYTES} bytes")])
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].split(b"\n")
        position = Position(len(before), len(before[-1].decode(errors="replace")) + 1)
        what = f"holds the byte 0x{raw[error.start]:02X}, which is not UTF-8"
        remedy = "save the file as UTF-8 text"
        finding = Finding((), what, remedy=remedy, position=position)
        raise FleetError(source, [finding]) from error


def _foreign_version(tree: Tree) -> Finding | None:
    """Return the one thing to say of a file in another version: its keys may mean anything."""
    version = tree.data.get("apiVersion") if isinstance(tree.data, dict) else None
    if not isinstance(version, str) or version == API_VERSION:
        return None
    rule = f"this version reads {API_VERSION}"
    return Finding(("apiVersion",), f"is {shown(version)}", rule, f"use {API_VERSION}")


def _findings(tree: Tree) -> Iterator[Finding]:
    yield from tree.findings
    malformed = list(_without_echoes(_malformed(FleetDocument, tree.data), tree.findings))
    yield from malformed
    broken = list(broken_rules(_sound(tree.data, _Places.of([*tree.findings, *malformed]))))
    yield from broken
    places = _Places.of([*tree.findings, *malformed, *broken])
    yield from (each for each in refusals(tree.data) if places.clear_of(each.path))


def _malformed(model: type[BaseModel], data: Plain) -> list[Finding]:
    try:
        model.model_validate(data)
    except ValidationError as error:
        return [explained(each) for each in error.errors(include_url=False)]
    return []


def _without_echoes(
    malformed: Iterable[Finding], unreadable: Sequence[Finding]
) -> Iterator[Finding]:
    """Yield what is malformed of its own, and not because the tree could not read it."""
    places = _Places.of(unreadable)
    return (each for each in malformed if not places.covers(each.path))


@dataclass(frozen=True)
class _Places:
    """The places of findings, asked about by path."""

    exact: frozenset[KeyPath]
    enclosing: frozenset[KeyPath]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> "_Places":
        paths = [each.path for each in findings]
        enclosing = frozenset(path[:end] for path in paths for end in range(len(path) + 1))
        return cls(frozenset(paths), enclosing)

    def covers(self, path: KeyPath) -> bool:
        """Whether a finding is at the path or above it."""
        return any(path[:end] in self.exact for end in range(len(path) + 1))

    def clear_of(self, path: KeyPath) -> bool:
        """Whether no finding is at the path, above it or below it."""
        return path not in self.enclosing and not self.covers(path)


def _sound(data: Plain, places: _Places) -> Sound:
    pools = _entries(PoolEntry, data, ("pools",), places)
    return Sound(
        pools=pools,
        script=_entries(FlapEntry, data, ("health", "script"), places),
        faults=_entries(FaultEntry, data, ("faults",), places),
        complete=len(pools) == len(_list(data, ("pools",))),
    )


def _entries(model: type[_Entry], data: Plain, path: KeyPath, places: _Places) -> dict[int, _Entry]:
    return {
        index: model.model_validate(item)
        for index, item in enumerate(_list(data, path))
        if places.clear_of((*path, index))
    }


def _list(data: Plain, path: KeyPath) -> list[Plain]:
    for key in path:
        data = data.get(str(key)) if isinstance(data, dict) else None
    return data if isinstance(data, list) else []


def _placed(tree: Tree, finding: Finding) -> Finding:
    if finding.position:
        return finding
    return replace(finding, position=tree.position(finding.path, on_key=finding.on_key))


def _pool(entry: PoolEntry) -> Pool:
    return Pool(
        name=entry.name,
        nodes=entry.nodes,
        # One of the two is given, and `accelerator` is refused.
        resource=cast("str", entry.resource),
        count=entry.count,
        taint=entry.taint,
        node_names=tuple(entry.node_names or ()),
    )
