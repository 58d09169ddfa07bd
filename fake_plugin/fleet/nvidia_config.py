"""A file in the format of NVIDIA's own plugin, as what this plugin makes of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from fake_plugin.fleet.broken_rule import BrokenRule, Path
from fake_plugin.fleet.nvidia_format import strangers_and_misfits
from fake_plugin.fleet.offering import devices_of
from fake_plugin.plan import Answering, Partitions, Share, Sharing, SharingStrategy

_STRATEGIES: Final[Mapping[str, SharingStrategy]] = {"timeSlicing": "time-slicing", "mps": "mps"}
_PREFIX: Final = "nvidia.com/"
_GPU: Final = "nvidia.com/gpu"


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
        names = [full_name(str(resource.get("name"))) for resource in resources]
        if twice := [name for at, name in enumerate(names) if name in names[:at]]:
            yield BrokenRule(here, f"names {twice[0]} again", "a resource is shared in one way")


def full_name(name: str) -> str:
    """Return a resource's name with the prefix that upstream adds where it is missing."""
    return _PREFIX + name.removeprefix(_PREFIX)


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
        nvidia_config=config,
        sharing=_sharing(config.get("sharing", {}), share.alias),
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


def _sharing(sharing: Mapping[str, Any], alias: str | None) -> Sharing | None:
    for kind, shared in sharing.items():
        strategy = _STRATEGIES[kind]
        each = {full_name(entry["name"]): entry["replicas"] for entry in shared["resources"]}
        if alias and _GPU in each:
            each[alias] = each.pop(_GPU)
        return Sharing(
            strategy=strategy,
            replicas=max(each.values()),
            rename=shared.get("renameByDefault", False),
            fail_above_one=shared.get("failRequestsGreaterThanOne", strategy == "mps"),
            each=each,
        )
    return None


def misnamed(share: Share, config: Mapping[str, Any]) -> Iterator[BrokenRule]:
    """Yield where none of the resources that are to be shared is one of the share.

    Upstream shares those that are there and leaves the others alone.
    """
    for kind, shared in config.get("sharing", {}).items():
        names = sorted(strangers(share, shared["resources"]))
        if len(names) == len(shared["resources"]):
            has = ", ".join(sorted(_there(share)))
            rule = f"NVIDIA's plugin would share nothing: the pool has {has}"
            here: Path = ("sharing", kind, "resources")
            yield BrokenRule(here, f"names {names[0]}", rule, "name what the pool has")


def strangers(share: Share, resources: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the names among these resources that the share does not have."""
    return {full_name(each["name"]) for each in resources} - _there(share)


def _there(share: Share) -> set[str]:
    return {*devices_of(replace(share, sharing=None, alias=None))}
