"""The rules that it takes two values of a fleet file to break."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fake_plugin.faults.fault import Drop, Hang, Wrong
from fake_plugin.faults.fault import misfit as misfit_of_call
from fake_plugin.fleet.offering import devices_of
from fake_plugin.hardware.breakage import Breakage, Kind, misfit
from fake_plugin.plan import Share
from lab.core.counted import counted
from lab.core.fleet.document import FaultEntry, FlapEntry
from lab.core.fleet.findings import Finding, KeyPath, shown
from lab.core.fleet.pool_document import PoolEntry
from lab.core.fleet.scalars import MOST_NODES

#: The reasons for which a device breaks, and the effects of a fault, by their keys.
_KINDS: Final[Mapping[str, Kind]] = {"xid": "xid", "ecc": "ecc", "code": "fault-code"}
_EFFECTS: Final = ("fails", "delay", "hang", "answers", "drop")


@dataclass(frozen=True)
class Sound:
    """The entries of a file whose own shape is sound, by their index in the file.

    `shares` are what the pools give to their first node, of those that break no rule of their own.
    `complete` says that no pool is missing here, so that what is not found is not there.
    """

    pools: Mapping[int, PoolEntry]
    shares: Mapping[int, Share]
    script: Mapping[int, FlapEntry]
    faults: Mapping[int, FaultEntry]
    complete: bool


def broken_rules(sound: Sound) -> Iterator[Finding]:
    """Yield what breaks a rule between the entries."""
    for index, pool in sound.pools.items():
        yield from _node_names(index, pool)
    yield from _unique_pools(sound)
    nodes = sum(pool.nodes for pool in sound.pools.values())
    if nodes > MOST_NODES:
        rule = f"at most {MOST_NODES}, as many as Kubernetes supports in a cluster"
        yield Finding(("pools",), f"have {nodes} nodes together", rule, "lower pools[].nodes")
        return
    yield from _one_pool_per_node(sound)
    for index, flap in sound.script.items():
        yield from _flap(("health", "script", index), flap)
    for index, fault in sound.faults.items():
        yield from _fault(("faults", index), fault)
    yield from _references(sound)


def _node_names(index: int, pool: PoolEntry) -> Iterator[Finding]:
    here = ("pools", index, "nodeNames")
    names = pool.node_names
    if names is not None and len(names) != pool.nodes:
        what = f"has {counted(len(names), 'name')} where nodes is {pool.nodes}"
        remedy = f"set nodes to {len(names)}, or correct the names"
        yield Finding(here, what, "one name for each node", remedy)
    seen: set[str] = set()
    for at, name in enumerate(names or ()):
        if name in seen:
            yield Finding((*here, at), f"is {shown(name)} again", "each node once")
        seen.add(name)


def _unique_pools(sound: Sound) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, pool in sound.pools.items():
        if pool.name in first:
            what = f"is {shown(pool.name)}, as is pools[{first[pool.name]}].name"
            rule = "a name stands for one pool"
            yield Finding(("pools", index, "name"), what, rule, "rename one of the two")
        first.setdefault(pool.name, index)


def _one_pool_per_node(sound: Sound) -> Iterator[Finding]:
    # A kubelet keeps one list of devices for a resource: a second pool's would replace the first.
    taken: dict[tuple[str, str], str] = {}
    repeated = {name for name, times in Counter(_names(sound)).items() if times > 1}
    offered = _offered(sound)
    for index, pool in sound.pools.items():
        if pool.name in repeated:
            continue
        for path, node in _nodes(index, pool):
            for resource in offered.get(index, ()):
                holder = taken.setdefault((node, resource), pool.name)
                if holder != pool.name:
                    what = f"takes {shown(node)}, on which pool {holder} offers {resource}"
                    rule = "a node is in one pool for each resource"
                    yield Finding(path, what, rule, "take another node, or another resource")


def _offered(sound: Sound) -> Mapping[int, Collection[str]]:
    """Return the resources of each pool; of pools that share no node only the plain ones."""
    shared = Counter(node for index, pool in sound.pools.items() for _, node in _nodes(index, pool))
    offered: dict[int, Collection[str]] = {}
    for index, share in sound.shares.items():
        if share.resource:
            offered[index] = (share.resource,)
        elif any(shared[node] > 1 for _, node in _nodes(index, sound.pools[index])):
            offered[index] = devices_of(share)
    return offered


def _nodes(index: int, pool: PoolEntry) -> Iterator[tuple[KeyPath, str]]:
    if pool.node_names is None:
        for at in range(pool.nodes):
            yield ("pools", index, "name"), f"{pool.name}-{at}"
    for at, name in enumerate(pool.node_names or ()):
        yield ("pools", index, "nodeNames", at), name


def _names(sound: Sound) -> Iterator[str]:
    return (pool.name for pool in sound.pools.values())


def _flap(here: KeyPath, flap: FlapEntry) -> Iterator[Finding]:
    if (flap.at is None) == (flap.every is None):
        what = "says both at and every" if flap.at else "does not say when"
        yield Finding(here, what, "exactly one of at and every")
    reasons = [key for key in _KINDS if getattr(flap, key) is not None]
    if len(reasons) > 1:
        yield Finding(here, f"says {' and '.join(reasons)}", "a card breaks for one reason")
    elif reasons and flap.becomes == "healthy":
        what = "is given where the device becomes healthy"
        yield Finding((*here, reasons[0]), what, "it says why a device breaks", "remove it")


def _fault(here: KeyPath, fault: FaultEntry) -> Iterator[Finding]:
    given = [key for key in _EFFECTS if getattr(fault, key) is not None]
    if len(given) != 1:
        what = f"says {' and '.join(given)}" if given else "does not say what goes wrong"
        yield Finding(here, what, f"exactly one of {', '.join(_EFFECTS)}")
        return
    if fault.code is not None and fault.fails is None:
        yield Finding((*here, "code"), f"is given with {given[0]}", "only fails has a code")
    effect = Wrong(fault.answers) if fault.answers else Drop(0) if fault.drop else Hang()
    if rule := misfit_of_call(fault.call, effect):
        yield Finding((*here, "call"), f"is {shown(fault.call)}", rule)


def _references(sound: Sound) -> Iterator[Finding]:
    members = {
        f"{pool.name}-{at}": (pool, sound.shares.get(index))
        for index, pool in sound.pools.items()
        for at in range(pool.nodes)
    }
    for index, flap in sound.script.items():
        here = ("health", "script", index)
        if flap.node in members:
            yield from _device(here, flap, members[flap.node][0].count)
            yield from _reason(here, flap, members[flap.node][1])
        elif sound.complete:
            yield _unknown((*here, "node"), flap.node, members)
    for index, fault in sound.faults.items():
        if sound.complete and fault.node is not None and fault.node not in members:
            yield _unknown(("faults", index, "node"), fault.node, members)


def _device(here: KeyPath, flap: FlapEntry, count: int) -> Iterator[Finding]:
    if flap.device >= count:
        rule = f"{flap.node} has devices 0 to {count - 1}" if count else f"{flap.node} has none"
        yield Finding((*here, "device"), f"is {flap.device}", rule)


def _reason(here: KeyPath, flap: FlapEntry, share: Share | None) -> Iterator[Finding]:
    for key, kind in _KINDS.items():
        if share is None or getattr(flap, key) is None:
            continue
        vendor = share.accelerator.vendor if share.accelerator else None
        if rule := misfit(Breakage(kind), vendor):
            yield Finding((*here, key), "does not fit the device", rule, "remove it")


def _unknown(path: KeyPath, node: str, members: Collection[str]) -> Finding:
    known = ", ".join([*members][:5]) + (", …" if len(members) > 5 else "")  # noqa: PLR2004
    return Finding(path, f"is {shown(node)}, a node that no pool has", f"nodes: {known}")
