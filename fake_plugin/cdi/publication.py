"""The specs of the devices that a node offers through CDI, kept as the node is.

A spec stays when the plugin ends, as that of the real plugin does: the kubelet starts a container
again with the names that it was given at first, and asks nobody. What no spec defines any more, as
a card that was unplugged, such a container does not get, and does not start.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fake_plugin import events
from fake_plugin.cdi.folder import CdiFolder
from fake_plugin.cdi.spec import Edits, Spec, build
from fake_plugin.log import say

if TYPE_CHECKING:
    from pathlib import Path


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


class Publication:
    """What this run of the plugin has published in a folder, and what earlier runs left there."""

    def __init__(self, folder: CdiFolder) -> None:
        self._folder = folder
        self._specs: dict[str, Spec] = {}
        self._paths: dict[str, Path] = {}

    def update(self, several: Iterable[CdiDevices]) -> None:
        """Write what is new, and remove what is no more.

        Raises `NotReady` where the node does not let it be done, or a rule forbids it.
        """
        specs = specs_of(several)
        for kind, spec in specs.items():
            # What could not be written is no longer known to be there.
            if self._specs.pop(kind, None) != spec:
                self._paths[kind] = self._folder.write(spec)
                say(events.CDI_WRITTEN, file=str(self._paths[kind]), devices=len(spec.devices))
            self._specs[kind] = spec
        for kind in self._paths.keys() - specs.keys():
            path = self._paths.pop(kind)
            self._specs.pop(kind, None)
            self._folder.remove(path)
            say(events.CDI_REMOVED, file=str(path))
        for name in self._folder.remove_leftovers():
            say(events.CDI_REMOVED, file=name)
