"""A fleet file read and validated in one run that gathers all it finds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from fake_plugin.files.mapping import Mapping
from fake_plugin.fleet.faults import read_fault
from fake_plugin.fleet.script import read_flap
from fake_plugin.plan import Share
from lab.core.fleet.document import FaultEntry, FlapEntry, FleetDocument, HealthEntry
from lab.core.fleet.explanation import explained
from lab.core.fleet.findings import Finding, FleetError, KeyPath, shown
from lab.core.fleet.model import API_VERSION, Fleet, NodeFault, NodeFlap, Pool
from lab.core.fleet.places import Places
from lab.core.fleet.pool_document import PoolEntry
from lab.core.fleet.rules import Sound, broken_rules
from lab.core.fleet.shares import Shares
from lab.core.fleet.text import text_of
from lab.core.fleet.tree import Plain, Tree, parse

_Entry = TypeVar("_Entry", bound=BaseModel)


def read_file(path: Path) -> Fleet:
    """Read a fleet file. Raises `FleetError` with all that is wrong in it."""
    return read_text(text_of(path), str(path))


def read_text(text: str, source: str) -> Fleet:
    """Read a fleet from text; `source` is what errors call it."""
    tree = parse(text, source)
    foreign = _foreign_version(tree)
    if foreign:
        raise FleetError(source, [_placed(tree, foreign)])
    shares = Shares(source)
    findings = list(_findings(tree, shares))
    if findings:
        raise FleetError(source, [_placed(tree, each) for each in findings])
    return _fleet(tree.data, source, shares)


def _foreign_version(tree: Tree) -> Finding | None:
    """Return the one thing to say of a file in another version: its keys may mean anything."""
    version = tree.data.get("apiVersion") if isinstance(tree.data, dict) else None
    if not isinstance(version, str) or version == API_VERSION:
        return None
    rule = f"this version reads {API_VERSION}"
    return Finding(("apiVersion",), f"is {shown(version)}", rule, f"use {API_VERSION}")


def _findings(tree: Tree, shares: Shares) -> Iterator[Finding]:
    yield from tree.findings
    malformed = list(_without_echoes(_malformed(FleetDocument, tree.data), tree.findings))
    yield from malformed
    sound = _sound(tree.data, Places.of([*tree.findings, *malformed]), shares)
    yield from shares.findings
    yield from broken_rules(sound)


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
    places = Places.of(unreadable)
    return (each for each in malformed if not places.covers(each.path))


def _sound(data: Plain, places: Places, shares: Shares) -> Sound:
    pools = _entries(PoolEntry, data, ("pools",), places)
    plain = _list(data, ("pools",))
    for index in pools:
        if isinstance(pool := plain[index], dict):
            shares.add(index, pool)
    return Sound(
        pools=pools,
        shares=shares.found,
        script=_entries(FlapEntry, data, ("health", "script"), places),
        faults=_entries(FaultEntry, data, ("faults",), places),
        complete=len(pools) == len(plain),
    )


def _entries(model: type[_Entry], data: Plain, path: KeyPath, places: Places) -> dict[int, _Entry]:
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


def _fleet(data: Plain, source: str, shares: Shares) -> Fleet:
    document = FleetDocument.model_validate(data)
    health = document.health or HealthEntry()
    script, faults = _list(data, ("health", "script")), _list(data, ("faults",))
    return Fleet(
        tuple(_pool(entry, shares.found[at]) for at, entry in enumerate(document.pools)),
        sticky=health.policy == "sticky",
        script=tuple(
            NodeFlap(*read_flap(Mapping.of(Path(source), f"health.script[{at}]", each)))
            for at, each in enumerate(script)
        ),
        faults=tuple(
            NodeFault(*read_fault(Mapping.of(Path(source), f"faults[{at}]", each), at + 1))
            for at, each in enumerate(faults)
        ),
    )


def _pool(entry: PoolEntry, share: Share) -> Pool:
    load = entry.load.utilization if entry.load else None
    pool = Pool.of(share, nodes=entry.nodes, taint=entry.taint, load=load)
    return replace(pool, node_names=tuple(entry.node_names or ()))
