"""Scenarios one after another on one lab, and what has come of each."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from lab.cluster.connection import ApiFailed
from lab.core.errors import LabError, NotReady
from lab.core.progress import Progress
from lab.harness.collection import fleet_of
from lab.harness.lacking import lacking
from lab.harness.recording import Case
from lab.harness.run import Run
from lab.harness.running import run as run_scenario
from lab.harness.scenario import Scenario
from lab.harness.venue import Venue
from lab.host.processes import pasteable
from lab.install.backend import NoPlace

if TYPE_CHECKING:
    from lab.install.status import RunningLab

#: An API server that restarts is away for so long; so often it is asked until it counts as lost.
_PAUSE_SECONDS: Final = 3.0
_ASKED: Final = 4
_SERVER_ERROR: Final = 500


@dataclass(frozen=True)
class Ended:
    """One run of a scenario that was begun: how long it took, and why it did not hold.

    `seconds` are those of its result.
    """

    name: str
    ok: bool
    seconds: float
    error: str
    evidence: str


@dataclass(frozen=True)
class Skipped:
    """Why the lab cannot serve a scenario, and whether one of kind that is made for a run can."""

    reason: str
    can_be_served: bool


@dataclass
class Series:
    """The runs of a command; `failed` is told of each that does not hold, and of its error.

    `skipped` are those that the lab cannot serve, by their names.
    """

    venue: Venue
    progress: Progress
    of: Run
    failed: Callable[[Ended, LabError], None]
    ended: list[Ended] = field(default_factory=list)
    skipped: dict[str, Skipped] = field(default_factory=dict)

    def run(self, scenarios: Sequence[Scenario]) -> None:
        """Run them all; raises `NotReady` where the cluster is lost, or no lab could be made."""
        for number, scenario in enumerate(scenarios, 1):
            if scenario.name not in self.skipped:
                self._run(scenario, number, len(scenarios))

    def as_json(self) -> dict[str, Any]:
        """Return the contract for tools."""
        return {
            "scenarios": [asdict(each) for each in self.ended],
            "skipped": [
                {"name": name, "reason": each.reason} for name, each in self.skipped.items()
            ],
        }

    def unsteady(self) -> tuple[tuple[str, int, int], ...]:
        """Return the scenarios that did not hold: how often, and how often they ran."""
        ran = Counter(each.name for each in self.ended)
        bad = Counter(each.name for each in self.ended if not each.ok)
        return tuple((name, times, ran[name]) for name, times in bad.items())

    def _run(self, scenario: Scenario, number: int, total: int) -> None:
        test = f"{number:03}-{scenario.name}"
        case = Case(self.of, test, scenario.titles, scenario.section)
        case.begun()
        error = None
        try:
            with case.without_lab():
                lab = self._lab_for(scenario, f"{number} of {total} {scenario.name}", case)
            if lab is None:
                return
            title = f"{number} of {total} {scenario.name}: {scenario.title()}"
            with self.progress.step(title) as step:
                run_scenario(scenario, lab, case, told=step.update)
        except LabError as failure:
            if self.venue.lab is None:
                raise
            error = failure
        what = error.what if error else ""
        ended = Ended(scenario.name, not error, case.seconds, what, str(self.of.folder / test))
        self.ended.append(ended)
        if error:
            self._require_cluster(number, total, error)
            self.failed(ended, error)

    def _lab_for(self, scenario: Scenario, told: str, case: Case) -> "RunningLab | None":
        """Return the lab with the fleet of a scenario; None for one that it cannot serve."""
        # Where a lab is there already, no fleet is placed in vain.
        skipped = self._lacking(scenario)
        if not skipped:
            try:
                self.venue.with_fleet(fleet_of(scenario))
                skipped = self._lacking(scenario)
            except NoPlace as error:
                skipped = Skipped(error.what, can_be_served=True)
        if not skipped:
            return self.venue.lab
        self.skipped[scenario.name] = skipped
        self.progress.note(f"{told}: skipped: {skipped.reason}")
        case.skipped(skipped.reason)
        return None

    def _lacking(self, scenario: Scenario) -> Skipped | None:
        lab = self.venue.lab
        if lab is None or not (reason := lacking(lab, scenario.needs)):
            return None
        return Skipped(reason, can_be_served=lab.record.backend != "kind")

    def _require_cluster(self, number: int, total: int, failure: LabError) -> None:
        """Raise `NotReady` where it is the cluster that does not answer any more."""
        lab = self.venue.lab
        if lab is None or (away := _away(lab)) is None:
            return
        name = lab.record.name
        raise NotReady(
            f"the cluster of the lab {name!r} was lost in scenario {number} of {total}, "
            f"{self.ended[-1].name!r}",
            where=str(lab.folder.kubeconfig),
            seen=away.seen or away.what,
            remedy="see what became of it; what came of the scenarios before is kept in "
            f"{self.of.folder}",
            commands=(
                f"gpulab status --name {name}",
                pasteable(("gpulab", "report", str(self.of.folder))),
            ),
        ) from failure


def _away(lab: "RunningLab") -> ApiFailed | None:
    """Return why the API server does not answer, None if it does."""
    for turn in range(_ASKED):
        try:
            lab.client.version()
        except ApiFailed as error:
            if error.status and error.status < _SERVER_ERROR:
                return None
            last = error
        else:
            return None
        if turn < _ASKED - 1:
            time.sleep(_PAUSE_SECONDS)
    return last
