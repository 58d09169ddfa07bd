"""The labs that the tests of one process have, on whichever cluster the run is to use."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from filelock import FileLock

from lab.harness.leasing import Leases
from lab.harness.makers import OwnLabs, UsedLab, logged_site
from lab.harness.pytest_plugin.options import Keep, Settings
from lab.harness.pytest_plugin.ordering import handed_over, order_of
from lab.harness.pytest_plugin.runs import USED, RunFolder
from lab.install.choice import chosen_backend

if TYPE_CHECKING:
    from lab.harness.leasing import Maker

_OWN: Final = "own"


@dataclass(frozen=True)
class Cluster:
    """Where labs are: `leases` hand them out.

    `stays` says that what a test leaves behind is there after the run, `is_lent` that the cluster
    may go with the session of the last process that uses it, so that labs leave it before.
    """

    leases: Leases
    keep: Keep
    stays: bool
    is_lent: bool = False

    @contextmanager
    def used(self, user: str) -> Iterator["Cluster"]:
        """Use it inside the block; of all processes that do so, the last one leaves it."""
        if not self.is_lent:
            yield self
            return
        mine = self._folder / f"{user}.user"
        with self._users():
            mine.touch()
        try:
            yield self
        finally:
            with self._users():
                mine.unlink(missing_ok=True)
                if not any(self._folder.glob("*.user")) and not self._is_kept:
                    self.leases.take_down()

    def note_failure(self) -> None:
        """Remember that a test has failed here."""
        self._failed.touch()

    @property
    def _is_kept(self) -> bool:
        return self.keep == "always" or (self.keep == "failed" and self._failed.exists())

    @property
    def _failed(self) -> Path:
        return self._folder / "failed"

    @property
    def _folder(self) -> Path:
        return self.leases.folder

    def _users(self) -> FileLock:
        return FileLock(self._folder / "users.lock")


def cluster_for(
    settings: Settings, kubeconfig: Path | None, folder: RunFolder, workers: int
) -> Cluster:
    """Return the cluster that the settings, or a fixture's kubeconfig, ask for.

    One of kind has so many workers. Raises `UsageError` where they contradict each other, and
    `NotReady` where there can be no files.
    """
    site = logged_site()
    order = handed_over(order_of(settings, workers), kubeconfig)
    if settings.use:
        used = UsedLab(settings.use, site)
        return Cluster(_leases(folder, USED, 1, used), settings.keep, stays=True)
    chosen_backend(order, None)
    maker = OwnLabs(order, site)
    if order.kubeconfig:
        leases = _leases(folder, _group(order.kubeconfig, order.context), 1, maker)
        return Cluster(leases, settings.keep, stays=True, is_lent=True)
    return Cluster(_leases(folder, _OWN, settings.clusters, maker), settings.keep, stays=False)


def _leases(folder: RunFolder, group: str, most: int, maker: "Maker") -> Leases:
    return Leases(f"{folder.name}-{group}", folder.group(group), most, maker)


def _group(kubeconfig: Path, context: str | None) -> str:
    """Return a name for a cluster that all processes of a run agree on."""
    try:
        text = kubeconfig.read_bytes()
    except OSError:
        # One that cannot be read is refused when a lab is put on its cluster.
        text = bytes(kubeconfig)
    return hashlib.sha256(text + (context or "").encode()).hexdigest()[:6]
