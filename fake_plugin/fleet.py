"""What the fleet file says about one node.

The lab checks the same file in full; this is what a node needs of it. Yet nothing is passed over
in silence: a key that the plugin does not act on is refused by its name, because a fault that was
asked for and never happens teaches the wrong lesson.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fake_plugin.mapping import Mapping
from fake_plugin.resource_name import broken_rule

_FIXED: Final = {"apiVersion": "gpu-lab/v1", "kind": "Fleet"}
#: `taint` is about the node and not its devices: the lab acts on it, the plugin lets it pass.
_POOL: Final = ("name", "nodes", "nodeNames", "resource", "count", "taint")
#: As Python writes a number, and short enough to be read as one.
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class Share:
    """What one pool gives to one node: `count` devices under the name `resource`."""

    pool: str
    resource: str
    count: int


def read_shares(file: Path, node: str) -> tuple[Share, ...]:
    """Return what each pool gives to `node`, in the order of the file; () where none does.

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
    return tuple(_shares(pools, node))


def _shares(pools: tuple[Mapping, ...], node: str) -> Iterator[Share]:
    served: set[str] = set()
    for pool in pools:
        share, is_member = _share(pool), _has(pool, node)
        if not is_member:
            continue
        # A kubelet keeps one list per resource: that of a second pool would replace the first.
        if share.resource in served:
            pool.refuse("resource", f"is on {node} from a pool before this one already")
        served.add(share.resource)
        yield share


def _share(pool: Mapping) -> Share:
    pool.only(*_POOL)
    pool.flag("taint")
    resource = pool.text("resource")
    if rule := broken_rule(resource):
        pool.refuse("resource", rule)
    return Share(pool.text("name"), resource, pool.number("count", least=0))


def _has(pool: Mapping, node: str) -> bool:
    nodes, names = pool.number("nodes", least=1), pool.texts("nodeNames")
    if names is None:
        prefix = f"{pool.text('name')}-"
        index = _INDEX.fullmatch(node.removeprefix(prefix)) if node.startswith(prefix) else None
        return index is not None and int(index[0]) < nodes
    if len(names) != nodes:
        pool.refuse("nodeNames", f"must have as many names as nodes says, {nodes}")
    return node in names


def _refuse_twins(pools: tuple[Mapping, ...]) -> None:
    names: set[str] = set()
    for pool in pools:
        if pool.text("name") in names:
            pool.refuse("name", "is that of a pool before this one")
        names.add(pool.text("name"))
