"""The rules that it takes two values of a pool to break; the lab and the plugin ask here alike.

`given_rules` looks at what stands in the file, `share_rules` at what was made of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fake_plugin.fleet.broken_rule import BrokenRule, Path
from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.partition_rules import broken_card_rule, broken_node_rule
from fake_plugin.plan import MOST_OF_A_CARD, Partitions, Share
from fake_plugin.resources.naming import broken_rule

#: The keys of a pool that say something of a model's cards.
_OF_A_MODEL: Final = ("alias", "dialect", "sharing", "partitions", "nvidiaConfig", "answering")


def given_rules(pool: Mapping[str, object]) -> Iterator[BrokenRule]:
    """Yield what the keys of a pool break by standing there, or by not standing there."""
    yield from _identity(pool)
    sharing = pool.get("sharing")
    if isinstance(sharing, dict):
        yield from _sharing_keys(sharing)
    yield from _twice(pool)
    if "nvidiaConfig" in pool:
        yield from _nvidia_config(pool)
    partitions = pool.get("partitions")
    if isinstance(partitions, dict) and isinstance(partitions.get("layout"), list):
        yield from _cards_twice(partitions["layout"])


def _identity(pool: Mapping[str, object]) -> Iterator[BrokenRule]:
    one = "exactly one of accelerator and resource"
    if "accelerator" not in pool and "resource" not in pool:
        example = "add one, such as `resource: fake.example.com/device`"
        yield BrokenRule((), "does not say what its devices are", one, example)
    if "accelerator" in pool and "resource" in pool:
        yield BrokenRule(("resource",), "is given beside accelerator", one, "remove one")
    if "accelerator" in pool:
        return
    for key in _OF_A_MODEL:
        if key in pool:
            yield BrokenRule((key,), "is given without accelerator", "it is about a model's cards")


def _sharing_keys(sharing: Mapping[str, object]) -> Iterator[BrokenRule]:
    if sharing.get("strategy") == "percentage":
        for key in ("replicas", "rename", "failRequestsGreaterThanOne"):
            if key in sharing:
                rule = "a card is 100 units of cores, and its memory in units of memoryUnitMiB"
                yield BrokenRule(("sharing", key), "is given with percentage", rule, "remove it")
        return
    if "replicas" not in sharing:
        rule = "how many times each device is offered"
        yield BrokenRule(("sharing",), "has no replicas", rule, "add it, as in `replicas: 4`")
    if "memoryUnitMiB" in sharing:
        what = f"is given with {sharing.get('strategy')}"
        yield BrokenRule(("sharing", "memoryUnitMiB"), what, "only percentage has memory units")


def _twice(pool: Mapping[str, object]) -> Iterator[BrokenRule]:
    for key in ("sharing", "answering"):
        if key in pool and "nvidiaConfig" in pool:
            yield BrokenRule((key,), "is given beside nvidiaConfig", "both say it", "remove one")
    partitions, config = pool.get("partitions"), pool.get("nvidiaConfig")
    if not isinstance(partitions, dict):
        return
    flags = config.get("flags") if isinstance(config, dict) else None
    configured = flags.get("migStrategy") if isinstance(flags, dict) else None
    strategy = partitions.get("strategy", configured)
    here = ("partitions", "strategy")
    if strategy is None:
        yield BrokenRule(("partitions",), "has no strategy", "none, single or mixed", "add it")
    elif configured is not None and strategy != configured:
        what = f"is {strategy}, and nvidiaConfig.flags.migStrategy is {configured}"
        yield BrokenRule(here, what, "one strategy holds", "remove one")


def _nvidia_config(pool: Mapping[str, object]) -> Iterator[BrokenRule]:
    # Most nodes have no such file, and the plugin's start is short.
    from fake_plugin.fleet import nvidia_config  # noqa: PLC0415 - see above

    model, config = pool.get("accelerator"), pool["nvidiaConfig"]
    here = "nvidiaConfig"
    if isinstance(config, str):
        remedy = "where gpulab is, `python -m lab.core.fleet.inline FILE` puts it in"
        yield BrokenRule((here,), "is the path of a file", "a node has no such file", remedy)
        return
    if isinstance(model, dict) and model.get("vendor") != "nvidia":
        yield BrokenRule((here,), "is given for another vendor", "it is NVIDIA's format")
    yield from _below(here, nvidia_config.broken_rules(config))


def _below(key: str, broken_rules: Iterable[BrokenRule]) -> Iterator[BrokenRule]:
    return (replace(broken, path=(key, *broken.path)) for broken in broken_rules)


def _cards_twice(layout: Sequence[object]) -> Iterator[BrokenRule]:
    named: set[str] = set()
    for at, entry in enumerate(layout):
        devices = entry.get("devices") if isinstance(entry, dict) else None
        cards = [repr(card) for card in (devices if isinstance(devices, list) else [devices])]
        twice = len({*cards}) < len(cards) or not named.isdisjoint(cards)
        if twice or (named and "'all'" in named.union(cards)):
            here: Path = ("partitions", "layout", at, "devices")
            yield BrokenRule(here, "names a card that is named before", "a card is cut in one way")
        named |= {*cards}


def share_rules(share: Share, pool: Mapping[str, object]) -> Iterator[BrokenRule]:
    """Yield what the values of a share break together; `pool` is what it was made of."""
    broken = list(_share_rules(share))
    yield from broken
    config = pool.get("nvidiaConfig")
    if isinstance(config, dict) and not broken:
        from fake_plugin.fleet.nvidia_config import misnamed  # noqa: PLC0415 - as above

        yield from _below("nvidiaConfig", misnamed(share, config))


def _share_rules(share: Share) -> Iterator[BrokenRule]:
    vendor = share.accelerator.vendor if share.accelerator else None
    if share.alias and (rule := broken_rule(share.alias)):
        yield BrokenRule(("alias",), f"is {share.alias}", rule)
    if share.resource and (rule := broken_rule(share.resource)):
        yield BrokenRule(("resource",), f"is {share.resource}", rule)
    if share.dialect == "hami" and vendor != "ascend":
        yield BrokenRule(("dialect",), "is hami", "only Ascend's cards have two dialects")
    if share.numa and len(share.numa) != share.count:
        numbers = "1 number" if len(share.numa) == 1 else f"{len(share.numa)} numbers"
        what = f"has {numbers} where count is {share.count}"
        yield BrokenRule(("numa",), what, "one number for each device", "make them equal")
    yield from _sharing(share)
    yield from _memory_units(share)
    if share.accelerator and share.partitions:
        yield from _partitions(share.accelerator, share.partitions, share.count)


def _sharing(share: Share) -> Iterator[BrokenRule]:
    if share.sharing is None:
        return
    strategy, model = share.sharing.strategy, share.accelerator
    here = ("sharing", "strategy")
    if strategy == "mps" and model and model.vendor != "nvidia":
        yield BrokenRule(here, "is mps", "MPS is of NVIDIA's cards", "use time-slicing")
    cut = share.partitions and share.partitions.strategy
    # Source: NVIDIA/k8s-device-plugin, cmd/nvidia-device-plugin/main.go and internal/plugin/mps.go.
    if strategy == "mps" and cut == "mixed":
        rule = "NVIDIA's plugin refuses it with the partition strategy mixed"
        yield BrokenRule(here, "is mps", rule, "use time-slicing, or the strategy none")
    elif strategy == "mps" and cut == "single" and share.partitions and share.partitions.layout:
        rule = "NVIDIA's plugin refuses it for MIG devices"
        yield BrokenRule(here, "is mps", rule, "use time-slicing, or leave the cards whole")
    if not share.by_percentage:
        return
    if model is None or model.memory_mib is None:
        rule = "a card's memory must be known to be given out in units"
        yield BrokenRule(here, "is percentage", rule, "use an accelerator with memoryMiB")
    elif model.memory_mib < share.sharing.memory_unit_mib:
        what = f"is {share.sharing.memory_unit_mib}"
        rule = f"a card has {model.memory_mib} MiB"
        yield BrokenRule(("sharing", "memoryUnitMiB"), what, rule)
    if cut in {"single", "mixed"}:
        yield BrokenRule(here, "is percentage", "it divides whole cards", "remove partitions")


def _memory_units(share: Share) -> Iterator[BrokenRule]:
    """Yield what makes too many devices of the memory of one card, before any is made."""
    memory = share.accelerator.memory_mib if share.accelerator else None
    if memory is None or not (share.by_percentage or share.dialect == "hami"):
        return
    unit = share.memory_unit_mib
    if memory <= unit * MOST_OF_A_CARD:
        return
    larger = -(-memory // MOST_OF_A_CARD)
    rule = f"a card of {memory} MiB would be more than {MOST_OF_A_CARD} devices"
    if share.by_percentage:
        here, what = ("sharing", "memoryUnitMiB"), f"is {unit}"
        yield BrokenRule(here, what, rule, f"use a unit of {larger} or more")
    else:
        remedy = f"lower memoryMiB, or share by percentage, with a memoryUnitMiB of {larger}"
        yield BrokenRule(("dialect",), f"is hami, with units of {unit} MiB", rule, remedy)


def _partitions(model: Accelerator, partitions: Partitions, count: int) -> Iterator[BrokenRule]:
    here = ("partitions",)
    if outside := [index for index in partitions.layout if index >= count]:
        rule = f"count is {count}, and cards count from 0"
        yield BrokenRule((*here, "layout"), f"names card {min(outside)}", rule)
    first_of = {cut: index for index, cut in reversed([*partitions.layout.items()])}
    for cut, card in first_of.items():
        if rule_ := broken_card_rule(model, cut):
            yield BrokenRule((*here, "layout"), f"cuts card {card} wrongly", rule_)
    if rule_ := broken_node_rule(model, partitions.strategy, partitions.layout, count):
        yield BrokenRule(here, "do not go together", rule_)
