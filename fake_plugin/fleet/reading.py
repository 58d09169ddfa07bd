"""What the fleet file says about one node.

The lab checks the same file in full; this is what a node needs of it. Yet nothing is passed over
in silence: a key that the plugin does not act on is refused by its name, because a fault that was
asked for and never happens teaches the wrong lesson.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fake_plugin.fleet.plan import Plan, Share
from fake_plugin.mapping import Mapping
from fake_plugin.resource_name import broken_rule

_FIXED: Final = {"apiVersion": "gpu-lab/v1", "kind": "Fleet"}
#: `taint` is about the node and not its devices: the lab acts on it, the plugin lets it pass.
_POOL: Final = ("name", "nodes", "nodeNames", "resource", "count", "taint")
#: As Python writes a number, and short enough to be read as one.
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}")


def read_plan(file: Path, node: str) -> Plan:
    """Return what the fleet says about `node`: its shares in the order of the file.

    A pool has a node when its `nodeNames` list it or, without that list, when the node is called
    `<pool>-<i>` with i < `nodes`. Raises `WrongUse` for anything in the file that is wrong, about
    this node or not, so that all nodes judge a file alike.
    """
    document = Mapping.load(file)
    document.only(*_FIXED, "pools")
    for name, right in _FIXED.items():
        if document.text(name) != right:
            document.refuse(name, f"must be {right}")
    pools = document.mappings("pools")
    _refuse_twins(pools)
    return Plan(tuple(_shares(pools, node)))


def _shares(pools: tuple[Mapping, ...], node: str) -> Iterator[Share]:
    served: set[str] = set()
    for pool in pools:
        index = _index(pool, node)
        share = _share(pool, index or 0)
        if index is None:
            continue
        # A kubelet keeps one list per resource: that of a second pool would replace the first.
        if share.resource in served:
            pool.refuse("resource", f"is on {node} from a pool before this one already")
        served.add(share.resource or "")
        yield share


def _share(pool: Mapping, index: int) -> Share:
    pool.only(*_POOL)
    pool.flag("taint")
    resource, name = pool.text("resource"), pool.text("name")
    if rule := broken_rule(resource):
        pool.refuse("resource", rule)
    return Share(name, f"{name}-{index}", pool.number("count", least=0), resource=resource)


def _index(pool: Mapping, node: str) -> int | None:
    """Return which of the pool's nodes this is, None where it is none of them."""
    nodes, names = pool.number("nodes", least=1), pool.texts("nodeNames")
    if names is None:
        prefix = f"{pool.text('name')}-"
        index = _INDEX.fullmatch(node.removeprefix(prefix)) if node.startswith(prefix) else None
        return int(index[0]) if index and int(index[0]) < nodes else None
    if len(names) != nodes:
        pool.refuse("nodeNames", f"must have as many names as nodes says, {nodes}")
    return names.index(node) if node in names else None


def _refuse_twins(pools: tuple[Mapping, ...]) -> None:
    names: set[str] = set()
    for pool in pools:
        if pool.text("name") in names:
            pool.refuse("name", "is that of a pool before this one")
        names.add(pool.text("name"))
