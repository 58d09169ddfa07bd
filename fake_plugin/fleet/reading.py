"""What the fleet file says about one node.

The lab checks the same file in full; this is what a node needs of it. Yet nothing is passed over
in silence: a key that the plugin does not act on is refused by its name, because a fault that was
asked for and never happens teaches the wrong lesson.
"""

import re
from collections.abc import Mapping as PlainMapping
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from fake_plugin.faults.fault import Fault
from fake_plugin.files.mapping import Mapping
from fake_plugin.fleet.faults import read_fault
from fake_plugin.fleet.offering import devices_of
from fake_plugin.fleet.pool_rules import given_rules, share_rules
from fake_plugin.fleet.script import read_flap, require_fit
from fake_plugin.fleet.shares import HEALTH_POLICIES, read_load, read_share
from fake_plugin.plan import Flap, Plan, Share

_FIXED: Final = {"apiVersion": "gpu-lab/v1", "kind": "Fleet"}
#: As Python writes a number, and short enough to be read as one.
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}")

#: Each pool by its name, and what it gives to a node.
Pools: TypeAlias = PlainMapping[str, tuple[Mapping, Share]]


def read_plan(file: Path, node: str) -> Plan:
    """Return what the fleet says about `node`: its shares in the order of the file.

    A pool has a node when its `nodeNames` list it or, without that list, when the node is called
    `<pool>-<i>` with i < `nodes`. Raises `WrongUse` for anything in the file that is wrong, about
    this node or not, so that all nodes judge a file alike.
    """
    document = Mapping.load(file)
    document.only(*_FIXED, "pools", "health", "faults")
    for name, right in _FIXED.items():
        if document.text(name) != right:
            document.refuse(name, f"must be {right}")
    pools = document.mappings("pools")
    _refuse_twins(pools)
    every = {pool.text("name"): (pool, _share(pool, 0)) for pool in pools}
    loads = {name: read_load(pool) for name, (pool, _) in every.items()}
    flaps = [_flap(flap, every) for flap in _script(document)]
    faults = [
        _fault(fault, at, every) for at, fault in enumerate(document.mappings("faults", least=0), 1)
    ]
    shares = _shares(pools, node)
    here = {share.member for share in shares}
    return Plan(
        shares,
        _is_sticky(document),
        tuple(flap for member, flap in flaps if member in here),
        tuple(fault for member, fault in faults if shares and (member is None or member in here)),
        {share.pool: load for share in shares if (load := loads[share.pool]) is not None},
    )


def _is_sticky(document: Mapping) -> bool:
    health = document.mapping("health")
    return health is not None and health.choice("policy", HEALTH_POLICIES, default=False)


def _script(document: Mapping) -> tuple[Mapping, ...]:
    health = document.mapping("health")
    if health is None:
        return ()
    health.only("policy", "script")
    return health.mappings("script", least=0)


def _flap(entry: Mapping, every: Pools) -> tuple[str, Flap]:
    member, flap = read_flap(entry)
    require_fit(entry, flap, _of_member(entry, member, every))
    return member, flap


def _fault(entry: Mapping, number: int, every: Pools) -> tuple[str | None, Fault]:
    member, fault = read_fault(entry, number)
    if member is not None:
        _of_member(entry, member, every)
    return member, fault


def _of_member(entry: Mapping, member: str, every: Pools) -> Share:
    found = every.get(member.rpartition("-")[0])
    if not found or _number_in(found[1].pool, member, found[0].number("nodes", least=1)) is None:
        entry.refuse("node", "must be a node of a pool, as <pool>-<index>")
    return found[1]


def _shares(pools: tuple[Mapping, ...], node: str) -> tuple[Share, ...]:
    found = [
        (pool, _share(pool, index)) for pool in pools if (index := _index(pool, node)) is not None
    ]
    if len(found) > 1:
        _refuse_same_resource(found, node)
    return tuple(share for _, share in found)


def _refuse_same_resource(found: Sequence[tuple[Mapping, Share]], node: str) -> None:
    """Refuse a second pool of one resource: its list would replace the first at the kubelet."""
    served: set[str] = set()
    for pool, share in found:
        plain = share.resource if not share.sharing else None
        names = {plain} if plain else {*devices_of(share)}
        if twice := served & names:
            key = "resource" if share.resource else "accelerator"
            pool.refuse(key, f"brings {min(twice)}, which {node} has from a pool before this one")
        served |= names


def _share(pool: Mapping, index: int) -> Share:
    for broken in given_rules(pool.values):
        pool.refuse(broken.place, str(broken))
    share = read_share(pool, index)
    for broken in share_rules(share, pool.values):
        pool.refuse(broken.place, str(broken))
    return share


def _index(pool: Mapping, node: str) -> int | None:
    """Return which of the pool's nodes this is, None where it is none of them."""
    nodes, names = pool.number("nodes", least=1), pool.texts("nodeNames")
    if names is None:
        return _number_in(pool.text("name"), node, nodes)
    if len(names) != nodes:
        pool.refuse("nodeNames", f"must have as many names as nodes says, {nodes}")
    return names.index(node) if node in names else None


def _number_in(pool: str, member: str, nodes: int) -> int | None:
    """Return the index in `<pool>-<index>`, None where it is no member of a pool of so many."""
    if not member.startswith(f"{pool}-"):
        return None
    index = _INDEX.fullmatch(member.removeprefix(f"{pool}-"))
    return int(index[0]) if index and int(index[0]) < nodes else None


def _refuse_twins(pools: tuple[Mapping, ...]) -> None:
    names: set[str] = set()
    for pool in pools:
        if pool.text("name") in names:
            pool.refuse("name", "is that of a pool before this one")
        names.add(pool.text("name"))
