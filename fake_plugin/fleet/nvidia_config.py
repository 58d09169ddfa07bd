"""A file in the format of NVIDIA's own plugin, as what this plugin makes of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from fake_plugin.fleet.broken_rule import BrokenRule, Path
from fake_plugin.fleet.nvidia_format import strangers_and_misfits
from fake_plugin.fleet.offering import devices_of
from fake_plugin.fleet.plan import Answering, Partitions, Share, Sharing, SharingStrategy

_STRATEGIES: Final[Mapping[str, SharingStrategy]] = {"timeSlicing": "time-slicing", "mps": "mps"}
_PREFIX: Final = "nvidia.com/"


def broken_rules(config: object) -> Iterator[BrokenRule]:
    """Yield what is wrong in a file that was parsed."""
    if not isinstance(config, dict):
        yield BrokenRule((), "is no mapping", "NVIDIA's format begins with `version: v1`")
        return
    broken = list(strangers_and_misfits(config))
    if "version" not in config:
        broken.append(BrokenRule((), "has no version", remedy="add `version: v1`"))
    yield from broken
    if not broken:
        yield from _broken_sharing(config.get("sharing", {}))


def _broken_sharing(sharing: dict[str, dict[str, list[dict[str, object]]]]) -> Iterator[BrokenRule]:
    if len(sharing) > 1:
        yield BrokenRule(("sharing",), "has timeSlicing and mps", "a plugin shares in one way")
        return
    for kind, shared in sharing.items():
        here: Path = ("sharing", kind, "resources")
        resources = shared.get("resources", [])
        if not resources:
            yield BrokenRule(here, "names no resource", "upstream shares what is named here")
        for at, resource in enumerate(resources):
            for key in ("name", "replicas"):
                if key not in resource:
                    yield BrokenRule((*here, at), f"has no {key}", remedy=f"add {key}")
        if len({str(resource.get("replicas")) for resource in resources}) > 1:
            rule = "here all resources of a pool have as many replicas"
            yield BrokenRule(here, "have different replicas", rule, "make a pool of each")


def configured(share: Share, config: Mapping[str, Any]) -> Share:
    """Return the share as a file says that it is offered; nothing in the file is broken."""
    flags = config.get("flags", {})
    plugin = flags.get("plugin", {})
    lists = plugin.get("deviceListStrategy", "envvar")
    strategy = flags.get("migStrategy")
    layout = share.partitions.layout if share.partitions else {}
    defaults = Answering()
    return replace(
        share,
        sharing=_sharing(config.get("sharing", {})),
        partitions=Partitions(strategy, layout) if strategy else share.partitions,
        answering=Answering(
            list_strategies=tuple(lists) if isinstance(lists, list) else (lists,),
            id_strategy=plugin.get("deviceIDStrategy", "uuid"),
            pass_device_specs=plugin.get("passDeviceSpecs", False),
            replica_policy=plugin.get("sharedDevicesAllocationPolicy", "distributed"),
            cdi_annotation_prefix=plugin.get("cdiAnnotationPrefix", defaults.cdi_annotation_prefix),
            gds=flags.get("gdsEnabled", False),
            mofed=flags.get("mofedEnabled", False),
            gdrcopy=flags.get("gdrcopyEnabled", False),
        ),
    )


def _sharing(sharing: Mapping[str, Any]) -> Sharing | None:
    for kind, shared in sharing.items():
        strategy = _STRATEGIES[kind]
        return Sharing(
            strategy=strategy,
            replicas=shared["resources"][0]["replicas"],
            rename=shared.get("renameByDefault", False),
            fail_above_one=shared.get("failRequestsGreaterThanOne", strategy == "mps"),
        )
    return None


def misnamed(share: Share, config: Mapping[str, Any]) -> Iterator[BrokenRule]:
    """Yield where the resources that are to be shared are not those of the share.

    Upstream shares those that are named and leaves others alone; here all of a pool are shared.
    """
    for kind, shared in config.get("sharing", {}).items():
        names = {_PREFIX + each["name"].removeprefix(_PREFIX) for each in shared["resources"]}
        there = {*devices_of(replace(share, sharing=None, alias=None))}
        here: Path = ("sharing", kind, "resources")
        if strangers := sorted(names - there):
            rule = f"NVIDIA's plugin would share nothing: the pool has {', '.join(sorted(there))}"
            yield BrokenRule(here, f"names {strangers[0]}", rule, "name what the pool has")
        elif left := sorted(there - names):
            rule = "here all resources of a pool are shared"
            yield BrokenRule(here, f"leaves {left[0]} out", rule, "make a pool of its cards")
