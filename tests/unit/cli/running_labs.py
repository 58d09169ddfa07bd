"""Labs on which `gpulab run` runs scenarios, without a cluster and without what scenarios do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from lab.cluster.record import LabFolder, Record
from lab.core.errors import CheckFailed
from lab.core.fleet import Fleet, dump_fleet
from lab.harness.recording import Case
from lab.harness.scenario import Scenario, scenario
from lab.install.backend import NoPlace

if TYPE_CHECKING:
    from lab.cluster.connection import ApiFailed
    from lab.install.order import Order
    from lab.install.status import RunningLab

Act = Callable[[], None]


def named(name: str, *needs: str, fleet: str = "chapter") -> Scenario:
    """Return a scenario of this name."""

    def body(_: object) -> None:
        """Show that it is so."""

    body.__name__ = name
    made = scenario(
        section="4.1", en="It is so", zh="是", zh_why="是。", needs=cast("Any", needs), fleet=fleet
    )
    return made(body)


class Labs:
    """The labs of a test: what is done to them is in `told`, and `acts` are the scenarios'."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.told: list[str] = []
        self.seconds = 0.0
        self.acts: dict[str, list[Act]] = {}
        self.away: ApiFailed | None = None
        self.full: set[str] = set()
        self.order: Order | None = None
        self.options: tuple[str, ...] = ()

    def version(self) -> str:
        """Answer as the API server does, if it does."""
        if self.away:
            raise self.away
        return "v1"

    def running(self, _: object, name: str) -> "RunningLab":
        """Return a lab that can do nothing but run commands on its nodes."""
        folder = LabFolder(self.state / name)
        record = folder.read()
        client = SimpleNamespace(version=self.version)
        access = SimpleNamespace(can={"run"})
        found = SimpleNamespace(record=record, folder=folder, client=client, access=access)
        return cast("RunningLab", found)

    def place(self, name: str, fleet: Fleet) -> "RunningLab":
        """Place a fleet, if it is not too big."""
        pool = fleet.pools[0].name
        if pool in self.full:
            raise NoPlace("the fleet needs 3 workers, and the lab that is there has 1")
        self.told.append(f"place {pool}")
        LabFolder(self.state / name).fleet.write_text(dump_fleet(fleet))
        return self.running(None, name)

    def ran(self, scenario: Scenario, _lab: object, case: Case, **_: object) -> None:
        """Run a scenario: its next act."""
        self.options = case.run.options
        self.told.append(f"run {scenario.name}")
        case.write(replace(case.result("passed", ""), seconds=self.seconds))
        if acts := self.acts.get(scenario.name):
            acts.pop(0)()


class Own:
    """Makes labs as `OwnLabs` does."""

    def __init__(self, labs: Labs, order: "Order") -> None:
        self._labs = labs
        labs.order = order

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """Make it, as far as its folder."""
        self._labs.told.append(f"make {name}")
        folder = LabFolder(self._labs.state / name)
        folder.write(Record(name, "kind", "ready"))
        folder.kubeconfig.write_text("")
        return self._labs.place(name, fleet)

    def take(self, name: str, fleet: Fleet) -> "RunningLab":
        """Place a fleet."""
        return self._labs.place(name, fleet)

    def take_down(self, name: str) -> None:
        """Say so."""
        self._labs.told.append(f"remove {name}")


def fleet(name: str) -> Fleet:
    """Return a fleet whose pool has this name, of two nodes if it is `pair`."""
    (pool,) = Fleet.default().pools
    return Fleet((replace(pool, name=name, nodes=2 if name == "pair" else 1),))


def up(labs: Labs, backend: str = "kind") -> None:
    """Have the lab `t` be up already, with the fleet `chapter`."""
    folder = LabFolder(labs.state / "t")
    folder.write(Record("t", cast("Any", backend), "ready"))
    folder.fleet.write_text(dump_fleet(fleet("chapter")))


def fails() -> None:
    """Do not hold."""
    raise CheckFailed("not so")
