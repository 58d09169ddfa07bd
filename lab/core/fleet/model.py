"""A fleet as the rest of the lab sees it: pools of like nodes, and the nodes that follow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lab.core.errors import UsageError

API_VERSION: Final = "gpu-lab/v1"
KIND: Final = "Fleet"
_SHOWN_NAMES: Final = 10


@dataclass(frozen=True)
class Taint:
    """A taint of a node, with the three fields that the Kubernetes API gives it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return the taint as `kubectl taint` takes it."""
        return f"{self.key}={self.value}:{self.effect}"


@dataclass(frozen=True)
class FleetNode:
    """What one pool wants of one node: `count` devices under the name `resource`.

    `name` is the fleet's own name for it, `<pool>-<index>` from 0; `node_name` is the cluster's,
    None until the fleet is placed. Pools of different resources may share a node of the cluster:
    then several of these bear the same `node_name`.
    """

    name: str
    node_name: str | None
    pool: str
    resource: str
    count: int
    taint: Taint | None


@dataclass(frozen=True)
class Pool:
    """`nodes` nodes with `count` devices each; `node_names` are the cluster's names for them."""

    name: str
    nodes: int
    resource: str
    count: int
    taint: bool = False
    node_names: tuple[str, ...] = ()

    def members(self) -> Iterator[FleetNode]:
        """Yield the nodes of the pool in order."""
        taint = Taint(self.resource, "present", "NoSchedule") if self.taint else None
        for index in range(self.nodes):
            node_name = self.node_names[index] if self.node_names else None
            yield FleetNode(
                f"{self.name}-{index}", node_name, self.name, self.resource, self.count, taint
            )


@dataclass(frozen=True)
class Fleet:
    """All pools, in the order of the file."""

    pools: tuple[Pool, ...]

    @classmethod
    def default(cls) -> "Fleet":
        """Return the chapter's fleet: one worker with two devices."""
        return cls((Pool("chapter", nodes=1, resource="fake.example.com/device", count=2),))

    def nodes(self) -> tuple[FleetNode, ...]:
        """Return the nodes of all pools, pool by pool."""
        return tuple(member for pool in self.pools for member in pool.members())

    def workers(self) -> int:
        """Return how many workers of a cluster the fleet takes; a shared one counts once."""
        named = {name for pool in self.pools for name in pool.node_names}
        return len(named) + self._unplaced()

    def placed_on(self, workers: Sequence[str]) -> "Fleet":
        """Return the fleet with every pool on nodes of a cluster, given by name.

        A pool that names its nodes keeps them; the others take the rest of `workers` in order.
        Raises `UsageError` where a named node is not there, or where workers run out.
        """
        named = [name for pool in self.pools for name in pool.node_names]
        _refuse_strangers(named, workers)
        free = [worker for worker in workers if worker not in named]
        if self._unplaced() > len(free):
            raise _too_few(self._unplaced(), free, workers)
        rest = iter(free)
        return Fleet(tuple(_placed(pool, rest) for pool in self.pools))

    def _unplaced(self) -> int:
        return sum(pool.nodes for pool in self.pools if not pool.node_names)

    def to_yaml(self) -> str:
        """Return the fleet as a file, in the form that `load_fleet` and the plugin read."""
        import yaml  # noqa: PLC0415 - slow to import, and most commands write no fleet

        document = {
            "apiVersion": API_VERSION,
            "kind": KIND,
            "pools": [_entry(pool) for pool in self.pools],
        }
        return yaml.safe_dump(document, sort_keys=False)


def _entry(pool: Pool) -> dict[str, object]:
    entry: dict[str, object] = {"name": pool.name, "nodes": pool.nodes}
    if pool.node_names:
        entry["nodeNames"] = list(pool.node_names)
    entry |= {"resource": pool.resource, "count": pool.count}
    if pool.taint:
        entry["taint"] = True
    return entry


def _placed(pool: Pool, rest: Iterator[str]) -> Pool:
    if pool.node_names:
        return pool
    return replace(pool, node_names=tuple(next(rest) for _ in range(pool.nodes)))


def _refuse_strangers(named: Sequence[str], workers: Sequence[str]) -> None:
    strangers = sorted(set(named).difference(workers))
    if strangers:
        raise UsageError(
            f"the fleet names nodes that the cluster does not have: {', '.join(strangers)}",
            seen=f"workers of the cluster: {_listed(workers)}",
            remedy="correct pools[].nodeNames, or remove it to have workers taken in order",
        )


def _too_few(wanted: int, free: Sequence[str], workers: Sequence[str]) -> UsageError:
    number = "1 worker" if wanted == 1 else f"{wanted} workers"
    beside = " beside those it names" if len(free) < len(workers) else ""
    return UsageError(
        f"the fleet needs {number}{beside}, and the cluster has {len(free)}",
        seen=f"workers to take: {_listed(free)}",
        remedy="add workers to the cluster, or lower pools[].nodes in the fleet",
    )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN_NAMES]) or "none"
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
