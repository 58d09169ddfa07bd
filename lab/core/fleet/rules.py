"""The rules that it takes two values of a fleet file to break."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lab.core.fleet.document import MOST_NODES, FaultEntry, FlapEntry, PoolEntry
from lab.core.fleet.findings import Finding, KeyPath, shown


@dataclass(frozen=True)
class Sound:
    """The entries of a file whose own shape is sound, by their index in the file.

    `complete` says that no pool is missing here, so that what is not found is not there.
    """

    pools: Mapping[int, PoolEntry]
    script: Mapping[int, FlapEntry]
    faults: Mapping[int, FaultEntry]
    complete: bool

    def counts(self) -> dict[str, int]:
        """Return the number of devices of each node, by the name `<pool>-<index>`."""
        return {
            f"{pool.name}-{index}": pool.count
            for pool in self.pools.values()
            for index in range(pool.nodes)
        }


def broken_rules(sound: Sound) -> Iterator[Finding]:
    """Yield what breaks a rule between the entries."""
    for index, pool in sound.pools.items():
        yield from _pool(index, pool)
    yield from _unique_pools(sound)
    nodes = sum(pool.nodes for pool in sound.pools.values())
    if nodes > MOST_NODES:
        rule = f"at most {MOST_NODES}, as many as Kubernetes supports in a cluster"
        yield Finding(("pools",), f"have {nodes} nodes together", rule, "lower pools[].nodes")
        return
    yield from _one_pool_per_node(sound)
    yield from _references(sound)


def _pool(index: int, pool: PoolEntry) -> Iterator[Finding]:
    here = ("pools", index)
    one = "exactly one of accelerator and resource"
    if pool.accelerator is None and pool.resource is None:
        example = "add one, such as `resource: fake.example.com/device`"
        yield Finding(here, "does not say what its devices are", one, example)
    if pool.accelerator is not None and pool.resource is not None:
        yield Finding((*here, "resource"), "is given beside accelerator", one, "remove one")
    names = pool.node_names
    if names is not None and len(names) != pool.nodes:
        what = f"has {_counted(len(names), 'name')} where nodes is {pool.nodes}"
        remedy = f"set nodes to {len(names)}, or correct the names"
        yield Finding((*here, "nodeNames"), what, "one name for each node", remedy)
    for at, name in enumerate(names or ()):
        if name in (names or ())[:at]:
            yield Finding((*here, "nodeNames", at), f"is {shown(name)} again", "each node once")
    if pool.numa is not None and len(pool.numa) != pool.count:
        what = f"has {_counted(len(pool.numa), 'number')} where count is {pool.count}"
        yield Finding((*here, "numa"), what, "one number for each device", "make them equal")


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
    for index, pool in sound.pools.items():
        if pool.resource is None or pool.name in repeated:
            continue
        for path, node in _nodes(index, pool):
            holder = taken.setdefault((node, pool.resource), pool.name)
            if holder != pool.name:
                what = f"takes {shown(node)}, on which pool {holder} offers {pool.resource}"
                rule = "a node is in one pool for each resource"
                yield Finding(path, what, rule, "take another node, or another resource")


def _nodes(index: int, pool: PoolEntry) -> Iterator[tuple[KeyPath, str]]:
    if pool.node_names is None:
        for at in range(pool.nodes):
            yield ("pools", index, "name"), f"{pool.name}-{at}"
    for at, name in enumerate(pool.node_names or ()):
        yield ("pools", index, "nodeNames", at), name


def _names(sound: Sound) -> Iterator[str]:
    return (pool.name for pool in sound.pools.values())


def _references(sound: Sound) -> Iterator[Finding]:
    counts = sound.counts()
    for index, flap in sound.script.items():
        here = ("health", "script", index)
        if (flap.at is None) == (flap.every is None):
            what = "says both at and every" if flap.at else "does not say when"
            yield Finding(here, what, "exactly one of at and every")
        if flap.node in counts:
            yield from _device(index, flap, counts[flap.node])
        elif sound.complete:
            yield _unknown((*here, "node"), flap.node, counts)
    for index, fault in sound.faults.items():
        if sound.complete and fault.node not in counts:
            yield _unknown(("faults", index, "node"), fault.node, counts)


def _device(index: int, flap: FlapEntry, count: int) -> Iterator[Finding]:
    if flap.device >= count:
        rule = f"{flap.node} has devices 0 to {count - 1}" if count else f"{flap.node} has none"
        yield Finding(("health", "script", index, "device"), f"is {flap.device}", rule)


def _unknown(path: KeyPath, node: str, counts: Mapping[str, int]) -> Finding:
    known = ", ".join(list(counts)[:5]) + (", …" if len(counts) > 5 else "")  # noqa: PLR2004
    return Finding(path, f"is {shown(node)}, a node that no pool has", f"nodes: {known}")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
