"""The labs of a test run: made for it, on a cluster of its own or one that is there, or lent to it.

    OwnLabs    made by the run, and taken down at its end
    UsedLab    one that is up already, and stays

What they do is told to a log, since a test run has its own words for its terminal.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from lab.cluster.record import LabFolder, RecordDamaged
from lab.core.fleet import Fleet
from lab.core.progress import Step
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.install.down import take_down
from lab.install.order import Order
from lab.install.placing import place
from lab.install.site import Site
from lab.install.status import running_lab
from lab.install.up import bring_up

if TYPE_CHECKING:
    from lab.install.status import RunningLab

_LOG: Final = logging.getLogger("gpu_lab")
#: Who was killed while he made a cluster has left a kind behind that goes on for a while.
_LATE_LOOKS: Final = 4
_LATE_SECONDS: Final = 1.0


class LoggedProgress:
    """Progress that is told to the logger `gpu_lab`."""

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """See `Progress.step`."""
        _LOG.info("%s …", title)
        started = time.monotonic()
        yield self
        _LOG.info("%s: %.1f s", title, time.monotonic() - started)

    def note(self, text: str) -> None:
        """See `Progress.note`."""
        _LOG.info("%s", text)

    def update(self, detail: str) -> None:
        """See `Step.update`."""

    def cached(self) -> None:
        """See `Step.cached`."""


def logged_site() -> Site:
    """Return the means of this process, with progress that is logged."""
    return Site(Processes(), Folders.of(), LoggedProgress(), "pytest")


@dataclass(frozen=True)
class OwnLabs:
    """See `lab.harness.leasing.Maker`; `order` is for all labs, but for their name and fleet."""

    order: Order
    site: Site

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """See `Maker.make`."""
        bring_up(replace(self.order, name=name, fleet=fleet), self.site)
        return running_lab(self.site, name)

    def take(self, name: str, fleet: Fleet | None) -> "RunningLab":
        """See `Maker.take`."""
        return _with(running_lab(self.site, name), fleet, self.site)

    def take_down(self, name: str) -> None:
        """See `Maker.take_down`."""
        remove(name, self.site)


@dataclass(frozen=True)
class UsedLab:
    """See `lab.harness.leasing.Maker`; it makes nothing, and all names are those of one lab."""

    name: str
    site: Site

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """See `Maker.make`."""
        return self.take(name, fleet)

    def take(self, name: str, fleet: Fleet | None) -> "RunningLab":
        """See `Maker.take`."""
        del name
        return _with(running_lab(self.site, self.name), fleet, self.site)

    def take_down(self, name: str) -> None:
        """Leave it: it is not the run's."""


def remove(name: str, site: Site) -> None:
    """Take down a lab that a run has made, or whatever there is of it."""
    unfinished = _is_unfinished(LabFolder.of(site.folders, name))
    take_down(name, site)
    if unfinished:
        looks = 0
        while looks < _LATE_LOOKS:
            time.sleep(_LATE_SECONDS)
            looks = 0 if take_down(name, site) else looks + 1


def _with(lab: "RunningLab", fleet: Fleet | None, site: Site) -> "RunningLab":
    if fleet and lab.folder.placed_fleet() != lab.backend.placed(fleet):
        place(lab, fleet, site.progress)
    return lab


def _is_unfinished(folder: LabFolder) -> bool:
    try:
        record = folder.read()
    except RecordDamaged:
        return True
    return bool(record and record.phase == "creating")
