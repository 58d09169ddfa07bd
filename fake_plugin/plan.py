"""What a fleet gives to one node, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from fake_plugin.faults.fault import Fault
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.breakage import Becomes, Breakage

#: How the holders of one device are told apart; `percentage` offers shares of cores and memory.
SharingStrategy: TypeAlias = Literal["time-slicing", "mps", "percentage"]
#: NVIDIA's MIG strategies; AMD's plugin knows the last two.
PartitionStrategy: TypeAlias = Literal["none", "single", "mixed"]
#: How a container is told of its devices (NVIDIA's `deviceListStrategy`).
ListStrategy: TypeAlias = Literal["envvar", "volume-mounts", "cdi-annotations", "cdi-cri"]
#: What a container is told of a device (NVIDIA's `deviceIDStrategy`).
IdStrategy: TypeAlias = Literal["uuid", "index"]
#: How replicas are chosen (NVIDIA's `sharedDevicesAllocationPolicy`).
ReplicaPolicy: TypeAlias = Literal["distributed", "packed"]
#: Whose names an Ascend card's resources have: those of its own plugin, or of HAMi's.
Dialect: TypeAlias = Literal["official", "hami"]

#: No list has room for more devices of one card, and one of that length must not even be counted.
MOST_OF_A_CARD: Final = 100_000


@dataclass(frozen=True)
class Sharing:
    """How one device is offered several times.

    `rename` offers it as `<resource>.shared`; `fail_above_one` has Allocate refuse more than one
    replica (NVIDIA's failRequestsGreaterThanOne). With `percentage`, `replicas` is 100 per device
    of the core resource, and `memory_unit_mib` what one device of the memory resource stands for;
    its default is qGPU's.
    Where `each` is given, only the resources in it are shared, in their own numbers, and `replicas`
    is the largest of these.
    """

    strategy: SharingStrategy
    replicas: int
    rename: bool = False
    fail_above_one: bool = False
    memory_unit_mib: int = 1024
    each: Mapping[str, int] | None = None

    def replicas_of(self, resource: str) -> int:
        """Return how often a device of that resource is offered: once where it is not shared."""
        return self.replicas if self.each is None else self.each.get(resource, 1)


@dataclass(frozen=True)
class Partitions:
    """How cards are cut up: per index of a card its profiles, in order, one entry per partition.

    A card with an entry () is in partition mode and has no partition; one without is whole.
    """

    strategy: PartitionStrategy
    layout: Mapping[int, tuple[str, ...]]


@dataclass(frozen=True)
class Answering:
    """How the vendor's plugin was configured to answer Allocate and GetPreferredAllocation.

    The names and defaults are those of NVIDIA/k8s-device-plugin, api/config/v1/flags.go.
    """

    list_strategies: tuple[ListStrategy, ...] = ("envvar",)
    id_strategy: IdStrategy = "uuid"
    pass_device_specs: bool = False
    replica_policy: ReplicaPolicy = "distributed"
    cdi_annotation_prefix: str = "cdi.k8s.io/"
    gds: bool = False
    mofed: bool = False
    gdrcopy: bool = False


@dataclass(frozen=True)
class Share:
    """What one pool gives to one node: `count` cards, or plain devices of `resource`.

    Exactly one of `accelerator` and `resource` is given. `alias` replaces the vendor's own resource
    name; `dialect` chooses between Ascend's two. `numa` has one node number per card, or is ().
    `member` is the fleet's own name of the node, `<pool>-<index>`. `nvidia_config` is the file in
    the format of NVIDIA's plugin that sharing, answering and the strategy of partitions come from.
    `sticky` is the health policy of its own, or None for that of the fleet.
    """

    pool: str
    member: str
    count: int
    resource: str | None = None
    accelerator: Accelerator | None = None
    alias: str | None = None
    dialect: Dialect = "official"
    numa: tuple[int, ...] = ()
    sharing: Sharing | None = None
    partitions: Partitions | None = None
    answering: Answering = Answering()
    pre_start: bool = False
    nvidia_config: Mapping[str, object] | None = None
    sticky: bool | None = None

    @property
    def by_percentage(self) -> bool:
        """Whether cores and memory are given out, in place of cards."""
        return self.sharing is not None and self.sharing.strategy == "percentage"

    @property
    def memory_unit_mib(self) -> int:
        """What one device of memory stands for: HAMi's dialect has some without sharing as well."""
        return (self.sharing or Sharing).memory_unit_mib


@dataclass(frozen=True)
class Flap:
    """A change of one card's health: after `seconds`, or every `seconds` where `repeats`.

    `device` counts the cards of `pool` on this node. `breakage` says as what it breaks.
    """

    pool: str
    device: int
    seconds: float
    repeats: bool
    becomes: Becomes
    breakage: Breakage


@dataclass(frozen=True)
class Plan:
    """All that the fleet says about one node."""

    shares: tuple[Share, ...] = ()
    #: Whether a device that was unhealthy once stays so until the plugin restarts, as NVIDIA's.
    sticky: bool = False
    script: tuple[Flap, ...] = ()
    faults: tuple[Fault, ...] = ()
    #: Utilisation, 0 to 1, of a card that a container holds: by name of the pool.
    load: Mapping[str, float] = field(default_factory=dict)

    def is_sticky(self, share: Share) -> bool:
        """Return the policy of a share: its own, or that of the fleet."""
        return self.sticky if share.sticky is None else share.sticky
