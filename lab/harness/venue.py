"""Where the scenarios of one run are: on a lab that is up already, or on one made for the run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lab.cluster.record import LabFolder
from lab.core.errors import LabError
from lab.core.fleet import Fleet
from lab.harness.makers import OwnLabs, UsedLab
from lab.install.choice import chosen_backend, refuse_making
from lab.install.lock import alone_at
from lab.install.order import Order
from lab.install.site import Site
from lab.install.status import no_lab, running_lab

if TYPE_CHECKING:
    from lab.harness.leasing import Maker
    from lab.install.status import RunningLab

_ANOTHER: Final = "leave it out, or give the run a lab of another --name"


@dataclass
class Venue:
    """The lab of a run by its name; `lab` is None as long as it is not made.

    `before` is the fleet of a lab that was up already.
    """

    name: str
    maker: "Maker"
    lab: "RunningLab | None" = None
    before: Fleet | None = None

    @property
    def has_another_fleet(self) -> bool:
        """Whether a lab that was up already has not the fleet any more that it had."""
        if self.lab is None or self.before is None:
            return False
        return self.lab.folder.placed_fleet() != self.before

    def with_fleet(self, fleet: Fleet) -> "RunningLab":
        """Return the lab, with this fleet placed; raises as `Maker` does."""
        get = self.maker.take if self.lab else self.maker.make
        self.lab = get(self.name, fleet)
        return self.lab


@contextmanager
def venue_for(
    order: Order, site: Site, *, makes: bool, kept: Callable[[str], None] | None = None
) -> Iterator[Venue]:
    """Have a lab inside the block, for this run alone: the one of that name, else a new one.

    A new one is made, by the order, when the first fleet is known, and only if `makes`. It goes at
    the end, or stays where there is somebody, `kept`, who is told of it. Raises `NotReady` where
    there is none or another command has it, and `UsageError` for an order that contradicts
    itself, or the lab that is there.
    """
    folder = LabFolder.of(site.folders, order.name)
    with alone_at(site, order.name) as own:
        # Until then another command may take it down.
        record = folder.read()
        chosen_backend(order, record)
        if not (record or makes):
            raise no_lab(site, order.name, "--backend", "kind")
        if record:
            refuse_making(order, f"the lab {order.name!r} is up already", _ANOTHER)
            used = UsedLab(order.name, own)
            yield Venue(order.name, used, running_lab(site, order.name), folder.placed_fleet())
        else:
            venue = Venue(order.name, OwnLabs(order, own))
            with _ended(venue, folder, site, kept):
                yield venue


@contextmanager
def _ended(
    venue: Venue, folder: LabFolder, site: Site, kept: Callable[[str], None] | None
) -> Iterator[None]:
    """Take the lab down after the block, or what there is of it; an error of the block wins."""

    def end() -> None:
        if kept and folder.kubeconfig.exists():
            kept(venue.name)
        elif folder.path.exists():
            venue.maker.take_down(venue.name)

    try:
        yield
    except BaseException:
        if not kept:
            site.progress.note("what was made for this run goes with it; --keep leaves it")
        try:
            end()
        except LabError as left:
            site.progress.note(f"left behind: {left}")
        raise
    end()
