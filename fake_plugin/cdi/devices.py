"""What pools want to have published, and the specs that come of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fake_plugin.cdi.spec import Edits, Spec, build, merged


@dataclass(frozen=True)
class CdiDevices:
    """Devices of one kind, and what comes with any of them."""

    vendor: str
    class_: str
    devices: Mapping[str, Edits]
    common: Edits = field(default_factory=Edits)


def specs_of(several: Iterable[CdiDevices]) -> dict[str, Spec]:
    """Return one spec for each kind that has devices, with those of all pools.

    A spec has one set of edits for all its devices. Where pools differ in what comes with theirs,
    each device has that among its own edits.
    """
    kinds: dict[tuple[str, str], list[CdiDevices]] = {}
    for each in several:
        if each.devices:
            kinds.setdefault((each.vendor, each.class_), []).append(each)
    return {
        f"{vendor}/{class_}": build(vendor, class_, *_together(pools))
        for (vendor, class_), pools in kinds.items()
    }


def _together(pools: Sequence[CdiDevices]) -> tuple[dict[str, Edits], Edits]:
    first, *others = pools
    if all(each.common == first.common for each in others):
        return {name: edits for each in pools for name, edits in each.devices.items()}, first.common
    devices = {
        name: merged((each.common, edits)) for each in pools for name, edits in each.devices.items()
    }
    return devices, Edits()
