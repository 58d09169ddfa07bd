"""What pools want to have published, and the specs that come of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fake_plugin.cdi.spec import Edits, Spec, build


@dataclass(frozen=True)
class CdiDevices:
    """Devices of one kind, and what comes with any of them."""

    vendor: str
    class_: str
    devices: Mapping[str, Edits]
    common: Edits = field(default_factory=Edits)


def specs_of(several: Iterable[CdiDevices]) -> dict[str, Spec]:
    """Return one spec for each kind that has devices, with those of all pools."""
    kinds: dict[tuple[str, str], CdiDevices] = {}
    for each in several:
        name = (each.vendor, each.class_)
        known = kinds.get(name)
        devices = {**known.devices, **each.devices} if known else each.devices
        kinds[name] = CdiDevices(each.vendor, each.class_, devices, each.common)
    return {
        f"{vendor}/{class_}": build(vendor, class_, kind.devices, kind.common)
        for (vendor, class_), kind in kinds.items()
        if kind.devices
    }
