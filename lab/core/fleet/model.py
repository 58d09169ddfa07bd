"""A fleet as the rest of the lab sees it: pools of like nodes, and the nodes that follow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fake_plugin.faults.fault import Fault
from fake_plugin.fleet.offering import devices_of
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.plan import Answering, Dialect, Flap, Partitions, Share, Sharing
from lab.core.errors import UsageError

API_VERSION: Final = "gpu-lab/v1"
KIND: Final = "Fleet"
_SHOWN_NAMES: Final = 10
#: What the vendors' own components tolerate.
_TAINT_KEYS: Final = {
    "nvidia": "nvidia.com/gpu",
    "amd": "amd.com/gpu",
    "ascend": "huawei.com/Ascend910",
}


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
    """What one pool wants of one node: `devices` has how many of each resource.

    `name` is the fleet's own name for it, `<pool>-<index>` from 0; `node_name` is the cluster's,
    None until the fleet is placed. Pools of different resources may share a node of the cluster:
    then several of these bear the same `node_name`.
    """

    name: str
    node_name: str | None
    pool: str
    devices: Mapping[str, int]
    taint: Taint | None


@dataclass(frozen=True)
class Pool:
    """`nodes` nodes with `count` devices each; `node_names` are the cluster's names for them.

    What else there is, is as in `Share`, and exactly one of `resource` and `accelerator` is given.
    `load` is the utilisation of a card that a container holds, from 0 to 1.
    """

    name: str
    nodes: int
    resource: str | None
    count: int
    taint: bool = False
    node_names: tuple[str, ...] = ()
    accelerator: Accelerator | None = None
    alias: str | None = None
    dialect: Dialect = "official"
    numa: tuple[int, ...] = ()
    sharing: Sharing | None = None
    partitions: Partitions | None = None
    answering: Answering = field(default_factory=Answering)
    pre_start: bool = False
    load: float | None = None
    nvidia_config: Mapping[str, object] | None = None
    sticky: bool | None = None

    @classmethod
    def of(cls, share: Share, *, nodes: int, taint: bool, load: float | None) -> "Pool":
        """Return the pool whose nodes each have this share; its nodes have no names yet."""
        return cls(
            share.pool,
            nodes,
            share.resource,
            share.count,
            taint=taint,
            accelerator=share.accelerator,
            alias=share.alias,
            dialect=share.dialect,
            numa=share.numa,
            sharing=share.sharing,
            partitions=share.partitions,
            answering=share.answering,
            pre_start=share.pre_start,
            load=load,
            nvidia_config=share.nvidia_config,
            sticky=share.sticky,
        )

    def share(self, index: int) -> Share:
        """Return what the plugin of the pool's `index`-th node has to offer."""
        return Share(
            self.name,
            f"{self.name}-{index}",
            self.count,
            resource=self.resource,
            accelerator=self.accelerator,
            alias=self.alias,
            dialect=self.dialect,
            numa=self.numa,
            sharing=self.sharing,
            partitions=self.partitions,
            answering=self.answering,
            pre_start=self.pre_start,
            nvidia_config=self.nvidia_config,
            sticky=self.sticky,
        )

    def members(self) -> Iterator[FleetNode]:
        """Yield the nodes of the pool in order."""
        devices, taint = self.devices(), self._taint()
        for index in range(self.nodes):
            node_name = self.node_names[index] if self.node_names else None
            yield FleetNode(f"{self.name}-{index}", node_name, self.name, devices, taint)

    def devices(self) -> Mapping[str, int]:
        """Return how many devices of each resource one node has, as its plugin offers them."""
        return {self.resource: self.count} if self.resource else devices_of(self.share(0))

    def _taint(self) -> Taint | None:
        if not self.taint:
            return None
        vendors = _TAINT_KEYS[self.accelerator.vendor] if self.accelerator else ""
        return Taint(self.resource or self.alias or vendors, "present", "NoSchedule")


@dataclass(frozen=True)
class NodeFlap:
    """A change of health on the node that the fleet calls `member`."""

    member: str
    flap: Flap


@dataclass(frozen=True)
class NodeFault:
    """Calls that go wrong on the node that the fleet calls `member`, or on all where it is None."""

    member: str | None
    fault: Fault


@dataclass(frozen=True)
class Fleet:
    """All pools, in the order of the file, and what happens to their hardware and calls.

    `sticky` says that what was unhealthy once stays so until the plugin restarts, in pools that
    do not say it themselves.
    """

    pools: tuple[Pool, ...]
    sticky: bool = False
    script: tuple[NodeFlap, ...] = ()
    faults: tuple[NodeFault, ...] = ()

    @classmethod
    def default(cls) -> "Fleet":
        """Return the chapter's fleet: one worker with two devices."""
        return cls((Pool("chapter", nodes=1, resource="fake.example.com/device", count=2),))

    def nodes(self) -> tuple[FleetNode, ...]:
        """Return the nodes of all pools, pool by pool."""
        return tuple(member for pool in self.pools for member in pool.members())

    def by_node(self) -> dict[str, tuple[FleetNode, ...]]:
        """Return what a placed fleet wants of each node of the cluster, in the order of the pools.

        Raises `ValueError` for a fleet that is not placed: its nodes have no names yet.
        """
        found: dict[str, tuple[FleetNode, ...]] = {}
        for each in self.nodes():
            if each.node_name is None:
                raise ValueError(f"{each.name} is not placed")
            found[each.node_name] = (*found.get(each.node_name, ()), each)
        return found

    def node_named(self, name: str) -> str | None:
        """Return the cluster's name of what a placed fleet, or else the cluster, calls so."""
        nodes = self.by_node()
        called = {each.name: node for node, members in nodes.items() for each in members}
        return called.get(name, name if name in nodes else None)

    def names(self) -> tuple[str, ...]:
        """Return all names of a placed fleet's nodes, node by node, the cluster's last."""
        return tuple(
            name
            for node, members in self.by_node().items()
            for name in (*(each.name for each in members), node)
        )

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
        return replace(self, pools=tuple(_placed(pool, rest) for pool in self.pools))

    def _unplaced(self) -> int:
        return sum(pool.nodes for pool in self.pools if not pool.node_names)


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
