"""What of a node is not as its fleet says: broken, missing, added, or set to go wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fake_plugin.hardware.breakage import Becomes
from lab.cluster.plugin.rules import Rule
from lab.core.counted import counted


@dataclass(frozen=True)
class Device:
    """A device of a resource: its card by pool and index, how it is, and where it belongs.

    `unit` is the hardware behind it, the card or a partition of it. `breakage` is None for one that
    is sound, which the plugin may all the same not call healthy.
    """

    id: str
    unit: str
    card: str
    index: int
    pool: str
    healthy: bool
    breakage: str | None
    resets: int
    numa: int | None
    partition: int | None
    replica: int | None

    @property
    def is_ordinary(self) -> bool:
        """Whether it is sound, and offered as such."""
        return self.healthy and self.breakage is None

    def __str__(self) -> str:
        health = "healthy" if self.healthy else "unhealthy"
        why = self.breakage or "though mended: the policy is sticky"
        return f"{self.pool}/{self.index} {self.id}: {health}, {why}"


@dataclass(frozen=True)
class Resource:
    """A resource of a node; `registered` says that the kubelet watches its list."""

    name: str
    pool: str
    registered: bool
    count: int
    healthy: int
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class Unplugged:
    """A card that is out of the node."""

    card: str
    pool: str
    index: int

    def __str__(self) -> str:
        return f"{self.pool}/{self.index} {self.card}: unplugged"


@dataclass(frozen=True)
class Flap:
    """A change of health that is still to come: `left` times, None without an end.

    `every` is a time such as `5s`, and None for a step of the fleet's script that comes once.
    """

    units: tuple[str, ...]
    becomes: Becomes
    breakage: str
    every: str | None
    left: int | None

    def __str__(self) -> str:
        return f"{', '.join(self.units)}: {self.becomes}, {self._turns()}"

    def _turns(self) -> str:
        if self.every is None:
            return "once, later"
        left = "for ever" if self.left is None else f"{self.left} times more"
        return f"every {self.every}, {left}"


@dataclass(frozen=True)
class Facts:
    """What a node's plugin says of itself; `policy` is `recovers`, `sticky` or `mixed`.

    `added` has how many cards pools have beyond their count.
    """

    policy: str
    ready: bool
    unplugged: tuple[Unplugged, ...]
    added: Mapping[str, int]
    flaps: tuple[Flap, ...]
    problems: tuple[str, ...]
    resources: tuple[Resource, ...]


@dataclass(frozen=True)
class Overview:
    """What is out of the ordinary; `ready` says that the kubelet watches all resources."""

    policy: str
    ready: bool
    broken: tuple[Device, ...]
    unplugged: tuple[Unplugged, ...]
    added: Mapping[str, int]
    flaps: tuple[Flap, ...]
    faults: tuple[Rule, ...]
    problems: tuple[str, ...]

    @classmethod
    def of(cls, facts: Facts, rules: tuple[Rule, ...]) -> "Overview":
        """Return what is out of the ordinary of a node and its rules."""
        devices = (device for resource in facts.resources for device in resource.devices)
        return cls(
            policy=facts.policy,
            ready=facts.ready,
            broken=tuple(device for device in devices if not device.is_ordinary),
            unplugged=facts.unplugged,
            added=facts.added,
            flaps=facts.flaps,
            faults=rules,
            problems=facts.problems,
        )

    def lines(self) -> Iterator[str]:
        """Yield a line for each thing; none where all is as the fleet says."""
        if not self.ready:
            yield "the kubelet does not watch all of its resources"
        yield from map(str, (*self.broken, *self.unplugged))
        for pool, number in self.added.items():
            yield f"{pool}: {counted(number, 'card')} added"
        yield from map(str, self.flaps)
        for rule in self.faults:
            spent = ", spent" if rule.is_spent else ""
            yield f"rule {rule} (seen {rule.seen}, met {rule.hit}{spent})"
        yield from self.problems


@dataclass(frozen=True)
class Cleared:
    """How many rules and flaps are gone; `sticky` as of a change of health."""

    rules: int
    flaps: int
    sticky: bool
