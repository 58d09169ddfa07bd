"""What one pool of the fleet file gives to a node."""

from collections.abc import Iterable
from typing import Final, get_args

from fake_plugin.files.mapping import Mapping
from fake_plugin.fleet.accelerators import accelerator_of
from fake_plugin.plan import (
    MOST_OF_A_CARD,
    Answering,
    Dialect,
    IdStrategy,
    ListStrategy,
    Partitions,
    PartitionStrategy,
    ReplicaPolicy,
    Share,
    Sharing,
    SharingStrategy,
)
from fake_plugin.resources.message_limit import MOST_DEVICES

#: `taint` is about the node and not its devices: the lab acts on it, the plugin lets it pass.
KEYS: Final = (
    "name",
    "nodes",
    "nodeNames",
    "accelerator",
    "resource",
    "alias",
    "dialect",
    "count",
    "numa",
    "sharing",
    "partitions",
    "nvidiaConfig",
    "answering",
    "preStart",
    "healthPolicy",
    "load",
    "taint",
)
_SHARING_KEYS: Final = (
    "strategy",
    "replicas",
    "rename",
    "failRequestsGreaterThanOne",
    "memoryUnitMiB",
)
_ANSWERING_KEYS: Final = (
    "deviceListStrategy",
    "deviceIDStrategy",
    "passDeviceSpecs",
    "sharedDevicesAllocationPolicy",
    "cdiAnnotationPrefix",
    "gdsEnabled",
    "mofedEnabled",
    "gdrcopyEnabled",
)
_SHARING: Final[dict[str, SharingStrategy]] = {each: each for each in get_args(SharingStrategy)}
_STRATEGIES: Final[dict[str, PartitionStrategy]] = {
    each: each for each in get_args(PartitionStrategy)
}
_LISTS: Final[dict[str, ListStrategy]] = {each: each for each in get_args(ListStrategy)}
_IDS: Final[dict[str, IdStrategy]] = {each: each for each in get_args(IdStrategy)}
_POLICIES: Final[dict[str, ReplicaPolicy]] = {each: each for each in get_args(ReplicaPolicy)}
#: Whether a device stays unhealthy, under each policy.
HEALTH_POLICIES: Final = {"recovers": False, "sticky": True}
_DIALECTS: Final[dict[str, Dialect]] = {each: each for each in get_args(Dialect)}
#: How many devices of the core resource a card is with `percentage`: one for each percent.
CORE_UNITS: Final = 100
#: More than any card can be cut into.
MOST_PARTITIONS: Final = 64


def read_share(pool: Mapping, index: int) -> Share:
    """Return the share of the pool's `index`-th node.

    Raises `WrongUse` for a value of another shape; what values break together is for
    `fake_plugin.fleet.pool_rules`.
    """
    pool.only(*KEYS)
    pool.flag("taint")
    name, count = pool.text("name"), pool.number("count", least=0, most=MOST_DEVICES)
    share = Share(
        pool=name,
        member=f"{name}-{index}",
        count=count,
        resource=pool.optional_text("resource"),
        accelerator=accelerator_of(pool) if "accelerator" in pool.values else None,
        alias=pool.optional_text("alias"),
        dialect=pool.choice("dialect", _DIALECTS, "official"),
        numa=pool.numbers("numa") or (),
        sharing=_sharing(pool.mapping("sharing")),
        partitions=_partitions(pool.mapping("partitions"), count),
        answering=_answering(pool.mapping("answering")),
        pre_start=pool.flag("preStart"),
        sticky=pool.choice("healthPolicy", HEALTH_POLICIES)
        if "healthPolicy" in pool.values
        else None,
    )
    config = pool.values.get("nvidiaConfig")
    if not isinstance(config, dict):
        return share
    # Most nodes have no such file, and the plugin's start is short.
    from fake_plugin.fleet.nvidia_config import configured  # noqa: PLC0415 - see above

    return configured(share, config)


def read_load(pool: Mapping) -> float | None:
    """Return the utilisation of a card that is held, or None where the pool does not say."""
    load = pool.mapping("load")
    if load is None:
        return None
    load.only("utilization")
    return load.fraction("utilization")


def _sharing(sharing: Mapping | None) -> Sharing | None:
    if sharing is None:
        return None
    sharing.only(*_SHARING_KEYS)
    strategy = sharing.choice("strategy", _SHARING)
    return Sharing(
        strategy=strategy,
        replicas=sharing.number("replicas", least=2, most=MOST_OF_A_CARD, default=CORE_UNITS),
        rename=sharing.flag("rename"),
        # NVIDIA's defaults: a client of MPS gets a share of one device, and two are no larger one.
        fail_above_one=sharing.flag("failRequestsGreaterThanOne", default=strategy == "mps"),
        memory_unit_mib=sharing.number("memoryUnitMiB", least=1, default=Sharing.memory_unit_mib),
    )


def _partitions(partitions: Mapping | None, count: int) -> Partitions | None:
    if partitions is None:
        return None
    partitions.only("strategy", "layout")
    # Without a strategy there is one in nvidiaConfig, which replaces this.
    return Partitions(
        partitions.choice("strategy", _STRATEGIES, "none"), _layout(partitions, count)
    )


def _layout(partitions: Mapping, count: int) -> dict[int, tuple[str, ...]]:
    layout: dict[int, tuple[str, ...]] = {}
    for entry in partitions.mappings("layout", least=0):
        entry.only("devices", "profiles")
        profiles = Mapping.of(entry.file, entry.path("profiles"), entry.required("profiles"))
        cut = tuple(
            name
            for name in profiles.values
            for _ in range(profiles.number(name, least=1, most=MOST_PARTITIONS))
        )
        layout |= dict.fromkeys(_cards(entry, count), cut)
    return layout


def _cards(entry: Mapping, count: int) -> Iterable[int]:
    if entry.values.get("devices") == "all":
        return range(count)
    cards = entry.numbers("devices")
    if not cards:
        entry.refuse("devices", "must be all, or a list of indices of cards")
    return cards


def _answering(answering: Mapping | None) -> Answering:
    if answering is None:
        return Answering()
    answering.only(*_ANSWERING_KEYS)
    return Answering(
        answering.some("deviceListStrategy", _LISTS, ("envvar",)),
        answering.choice("deviceIDStrategy", _IDS, "uuid"),
        answering.flag("passDeviceSpecs"),
        answering.choice("sharedDevicesAllocationPolicy", _POLICIES, "distributed"),
        answering.optional_text("cdiAnnotationPrefix") or Answering.cdi_annotation_prefix,
        answering.flag("gdsEnabled"),
        answering.flag("mofedEnabled"),
        answering.flag("gdrcopyEnabled"),
    )
