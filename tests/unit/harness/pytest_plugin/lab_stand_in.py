"""A pytest plugin (`-p`) by which tests of a project get labs that are nothing but files.

A lab is a file in the folder `labs` of FAKE_LABS, and what was done is told in `told`. Its cluster
is one of `tests.unit.harness.cluster`, in the process of the test.

    FAKE_FAILS=make, place, remove, folder    that goes wrong
    FAKE_SLOW=make             that takes until somebody ends it
    FAKE_NODES=2               no fleet may want more
    FAKE_BACKEND=existing      what labs say that they are on
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from lab.core.errors import CleanUpFailed, NotReady
from lab.core.fleet import Fleet
from lab.harness import makers
from lab.harness.lab import Lab
from lab.harness.pytest_plugin import clusters, tested
from lab.harness.pytest_plugin.runs import RunFolder
from lab.install.backend import NoPlace
from lab.install.order import Order
from tests.unit.harness.cluster import Cluster, a_pod, running

if TYPE_CHECKING:
    from lab.install.site import Site
    from lab.install.status import RunningLab

FOLDER = Path(os.environ["FAKE_LABS"])
FAILS = os.environ.get("FAKE_FAILS")


def tell(what: str) -> None:
    """Add a line to what was done, in one piece: several processes do."""
    with (FOLDER / "told").open("a") as file:
        file.write(f"{what}\n")


def path_of(name: str) -> Path:
    """Return the file that is a lab."""
    folder = FOLDER / "labs"
    folder.mkdir(exist_ok=True)
    return folder / name


@dataclass(frozen=True)
class FileLabs:
    """See `lab.harness.makers.OwnLabs`."""

    order: Order
    site: "Site"

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """Make a file."""
        self._require_place(fleet)
        tell(f"make {_group(name)} {_told(fleet)} workers={self.order.workers}")
        path_of(name).touch()
        if FAILS == "make":
            raise NotReady("no Docker engine answers", remedy="start it")
        if os.environ.get("FAKE_SLOW") == "make":
            time.sleep(60)
        return a_lab(name, self.order)

    def take(self, name: str, fleet: Fleet | None) -> "RunningLab":
        """Find a file."""
        if fleet:
            self._require_place(fleet)
            tell(f"place {_group(name)} {_told(fleet)}")
            if FAILS == "place":
                raise NotReady("the devices did not come", remedy="see the plugin's log")
        assert path_of(name).exists()
        return a_lab(name, self.order)

    def take_down(self, name: str) -> None:
        """Remove a file."""
        remove(name, self.site)

    def _require_place(self, fleet: Fleet) -> None:
        most = int(os.environ.get("FAKE_NODES", "9"))
        if fleet.workers() > most:
            raise NoPlace(f"the fleet needs {fleet.workers()} nodes, and the lab has {most}")


@dataclass(frozen=True)
class FileUsed(FileLabs):
    """See `lab.harness.makers.UsedLab`."""

    @classmethod
    def of(cls, name: str, site: "Site") -> "FileUsed":
        """Return the lab of this name."""
        path_of(f"x-x-x-{name}").touch()
        return cls(Order(f"x-x-x-{name}", Fleet.default(), None, None, 1), site)

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """Find the file."""
        del name
        return self.take(self.order.name, fleet)


def remove(name: str, site: "Site") -> None:
    """Remove a file that is a lab."""
    del site
    tell(f"remove {_group(name)}")
    if FAILS == "remove":
        raise CleanUpFailed("containers of the lab could not be removed", where=name)
    path_of(name).unlink(missing_ok=True)


def no_folder(run: object, name: str) -> Path:
    """Fail as a disk does that is full."""
    del run
    raise NotReady("the run's files cannot be written", where=name, remedy="make room")


def a_lab(name: str, order: Order) -> "RunningLab":
    """Return as much of a lab as tests are given."""
    backend = "existing" if order.kubeconfig else os.environ.get("FAKE_BACKEND", "kind")
    return cast(
        "RunningLab",
        SimpleNamespace(
            record=SimpleNamespace(name=name, backend=backend),
            client=SimpleNamespace(version=lambda: "v1.36.3"),
            access=SimpleNamespace(can=frozenset({"run"})),
            folder=SimpleNamespace(known_token=lambda: "", kubeconfig=path_of(name)),
        ),
    )


@contextmanager
def opened(lab: "RunningLab", namespace: str) -> Iterator[Lab]:
    """Return a lab of one node, with nothing in it."""
    cluster = Cluster()
    cluster.node()
    plugin = replace(a_pod("plugin"), node="w", phase="Running", containers=(running(),))
    cluster.plugins.put(plugin, "plugin", "kube-system")
    handle = Lab(lab, Fleet.default().placed_on(("w",)), namespace, cluster.view)
    try:
        yield handle
    finally:
        tell(f"{'left' if handle.afterwards.left else 'closed'} {namespace.rpartition('-')[0]}")


def pytest_configure(config: pytest.Config) -> None:
    """Put the files in the place of labs."""
    del config
    patch = pytest.MonkeyPatch()
    patch.setattr(clusters, "OwnLabs", FileLabs)
    patch.setattr(clusters, "UsedLab", FileUsed.of)
    patch.setattr(tested, "opened", opened)
    patch.setattr(makers, "remove", remove)
    if FAILS == "folder":
        patch.setattr(RunFolder, "group", no_folder)


def _group(name: str) -> str:
    """Return what of a lab's name is the same in all runs."""
    return "-".join(name.split("-")[3:])


def _told(fleet: Fleet) -> str:
    return ",".join(f"{pool.name}:{pool.count}" for pool in fleet.pools)
