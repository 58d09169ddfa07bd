"""The specs of the devices that a node offers through CDI, kept as the node is.

A spec stays when the plugin ends, as that of the real plugin does: the kubelet starts a container
again with the names that it was given at first, and asks nobody. What no spec defines any more, as
a card that was unplugged, such a container does not get, and does not start.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fake_plugin import events
from fake_plugin.cdi.devices import CdiDevices, specs_of
from fake_plugin.cdi.folder import CdiFolder
from fake_plugin.log import say

if TYPE_CHECKING:
    from pathlib import Path

    from fake_plugin.cdi.spec import Spec


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
