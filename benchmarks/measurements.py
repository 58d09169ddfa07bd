"""What is measured of the plugins, each measurement with its lines of the table."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Final

from benchmarks.contenders import Contender, Contestant, Library, Ours, Sample
from benchmarks.figures import Row, Table, percentile
from benchmarks.node import MIB
from benchmarks.ours import Fleet
from fake_plugin.api.deviceplugin_pb2 import AllocateRequest, ContainerAllocateRequest
from lab.core.errors import CheckFailed
from lab.core.progress import Progress

#: Budgets: of a flap at the 99th percentile, of memory at the worst.
FLAP_MS: Final = 50.0
FEW_MIB: Final = 50.0
MANY_MIB: Final = 80.0
#: Between two flaps by command, at most: some come into the pause after a list, some later.
_GAP_SECONDS: Final = 0.06
#: Between two flaps of the script: more than one may take, so that each is told from the next.
_SCRIPT_MS: Final = 80
_SEED: Final = 4
P99: Final = partial(percentile, percent=99)


@dataclass(frozen=True)
class Extent:
    """How much is measured: how often in all rounds together, and of how many devices."""

    rounds: int
    flaps: int
    calls: int
    few: int = 8
    many: int = 20_000
    resources: int = 64
    #: How many devices, in one request and in the list; and of how many calls one is made.
    allocated: Mapping[int, int] = field(default_factory=lambda: {1: 1, 100: 1, 10_000: 10})

    def in_round(self, number: int) -> int:
        """Return how many of so many fall to one round."""
        return -(-number // self.rounds)


@dataclass
class Series:
    """Values of one kind, by column; a note stands where a column has no values."""

    notes: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, contender: Contender, *values: float) -> None:
        """Take in values."""
        self.values.setdefault(contender.column, []).extend(values)

    def row(
        self,
        title: str,
        unit: str,
        statistic: Callable[[Sequence[float]], float] = median,
        budget: float | None = None,
    ) -> Row:
        """Return the line with what a statistic makes of the values."""
        figures = {column: statistic(values) for column, values in self.values.items()}
        return Row(title, unit, {**self.notes, **figures}, budget)


class Bench:
    """The measurements; each adds its lines to the table."""

    def __init__(
        self,
        extent: Extent,
        ours: Ours,
        upstream: tuple[Sample, Library] | None,
        progress: Progress,
    ) -> None:
        self.extent = extent
        self.ours = ours
        self.all: tuple[Contender, ...] = (ours, *upstream) if upstream else (ours,)
        #: Those that can have more devices than two, and flap.
        self.able: tuple[Contender, ...] = (ours, upstream[1]) if upstream else (ours,)
        self._unable = upstream[0].column if upstream else ""
        self.table = Table(tuple(each.column for each in self.all))
        self._progress = progress
        self._random = random.Random(_SEED)  # noqa: S311 - pauses, and no secrets

    def run(self) -> None:
        """Measure everything."""
        with self._progress.step("first run: byte code"), self.ours.running(1):
            pass
        self.start_and_memory(self.extent.few, FEW_MIB, self.all)
        self.start_and_memory(self.extent.many, MANY_MIB, self.able)
        self.many_resources()
        for devices, budget in ((self.extent.few, FEW_MIB), (self.extent.many, MANY_MIB)):
            self.flaps(devices, budget)
            self.script(devices)
        for number, one_of in self.extent.allocated.items():
            self.allocate(number, self.extent.in_round(self.extent.calls // one_of))

    def start_and_memory(
        self, devices: int, budget: float, contenders: Sequence[Contender]
    ) -> None:
        """Start to registered, and what the process weighs then."""
        start, rss, pss, peak = (Series({self._unable: "2 devices"}) for _ in range(4))
        for each, contestant in self._bouts(f"start with {devices} devices", devices, contenders):
            memory = contestant.running.memory
            start.add(each, contestant.running.seconds * 1000)
            rss.add(each, memory.rss / MIB)
            pss.add(each, memory.pss / MIB)
            peak.add(each, memory.peak / MIB)
        self.table.rows += [
            start.row(f"start to registered, {devices} devices", "ms"),
            rss.row(f"memory (RSS), {devices} devices, worst", "MiB", max, budget),
            pss.row(f"memory (PSS), {devices} devices", "MiB"),
            peak.row(f"memory (peak RSS), {devices} devices, worst", "MiB", max, budget),
        ]

    def many_resources(self) -> None:
        """One process with many resources: all registered."""
        start, rss, resources = Series(), Series(), self.extent.resources
        fleet = Fleet(self.extent.few, resources)
        for contestant in self._own_bouts(f"start with {resources} resources", fleet):
            start.add(self.ours, contestant.running.seconds * 1000)
            rss.add(self.ours, contestant.running.memory.rss / MIB)
        self.table.rows += [
            start.row(f"start to all registered, {resources} resources", "ms"),
            rss.row(f"memory (RSS), {resources} resources, worst", "MiB", max),
        ]

    def flaps(self, devices: int, budget: float) -> None:
        """Flap by command, from before it to the list that has it; then weigh the process."""
        series, peak = (Series({self._unable: "no flap"}) for _ in range(2))
        for each, contestant in self._bouts(f"flaps of {devices} devices", devices, self.able):
            for at in range(self.extent.in_round(self.extent.flaps)):
                time.sleep(self._random.uniform(0, _GAP_SECONDS))
                series.add(each, _flap_ms(contestant, unhealthy=1 - at % 2))
            peak.add(each, contestant.running.memory.peak / MIB)
        self._add_flaps(series, f"flap by command, {devices} devices")
        title = f"memory (peak RSS) after these flaps, {devices} devices, worst"
        self.table.rows.append(peak.row(title, "MiB", max, budget))

    def script(self, devices: int) -> None:
        """Flap by the fleet's script: from the moment that it is written down to the list."""
        series = Series(dict.fromkeys((each.column for each in self.all[1:]), "no script"))
        fleet = Fleet(devices, flap_ms=_SCRIPT_MS)
        flaps = self.extent.in_round(self.extent.flaps)
        for contestant in self._own_bouts(f"script for {devices} devices", fleet):
            series.add(self.ours, *_script_ms(contestant, flaps))
        self._add_flaps(series, f"flap by script, {devices} devices")

    def allocate(self, number: int, in_round: int) -> None:
        """Allocate all devices of the list in one request."""
        series = Series()
        title = f"Allocate, {number} of {number} devices"
        for each, contestant in self._bouts(title, number, self.all):
            series.add(each, *_allocations_ms(contestant, number, in_round))
        self.table.rows += [
            series.row(f"{title}, median", "ms"),
            series.row(f"{title}, p99 of {in_round * self.extent.rounds}", "ms", P99),
        ]

    def _bouts(
        self, title: str, devices: int, contenders: Sequence[Contender]
    ) -> Iterator[tuple[Contender, Contestant]]:
        """Yield every contender in turn, in every round, as it runs."""
        with self._progress.step(title) as step:
            for turn in range(self.extent.rounds):
                step.update(f"round {turn + 1} of {self.extent.rounds}")
                for each in contenders:
                    with each.running(devices) as contestant:
                        yield each, contestant

    def _own_bouts(self, title: str, fleet: Fleet) -> Iterator[Contestant]:
        with self._progress.step(title) as step:
            for turn in range(self.extent.rounds):
                step.update(f"round {turn + 1} of {self.extent.rounds}")
                with self.ours.serving(fleet) as contestant:
                    yield contestant

    def _add_flaps(self, series: Series, title: str) -> None:
        number = len(series.values[self.ours.column])
        self.table.rows += [
            series.row(f"{title}, median", "ms"),
            series.row(f"{title}, p99 of {number}", "ms", P99, FLAP_MS),
        ]


def _flap_ms(contestant: Contestant, unhealthy: int) -> float:
    started = time.monotonic()
    contestant.flap()
    message = contestant.running.plugin.next_list()
    if message.unhealthy() != unhealthy:
        raise CheckFailed(
            "a flap did not lead to the list that it should",
            where=contestant.running.plugin.resource,
            seen=f"{message.unhealthy()} unhealthy devices, and {unhealthy} were to be",
        )
    return (message.at - started) * 1000


def _script_ms(contestant: Contestant, flaps: int) -> Iterator[float]:
    before = -1
    for _ in range(flaps):
        message = contestant.running.plugin.next_list()
        changed_at, broken = contestant.last_change()
        yield (message.wall - changed_at) * 1000 + lateness_ms(message.unhealthy(), broken, before)
        before = message.unhealthy()


def lateness_ms(unhealthy: int, broken: int, before: int) -> float:
    """Return what is to be added to the age of the last change, to have that of a list's own.

    A list that shows other than what is broken now has come after the next flap; one that shows
    what the list before it showed stands for two flaps.
    """
    return _SCRIPT_MS if unhealthy in {1 - broken, before} else 0.0


def _allocations_ms(contestant: Contestant, number: int, calls: int) -> list[float]:
    # The sample has two devices only: they are asked for again and again.
    known = contestant.devices
    ids = [known[at % len(known)] for at in range(number)]
    container = ContainerAllocateRequest(devices_ids=ids)
    request = AllocateRequest(container_requests=[container]).SerializeToString()
    plugin = contestant.running.plugin
    # The first call also finds the connection's way.
    plugin.allocate_seconds(request)
    return [plugin.allocate_seconds(request) * 1000 for _ in range(calls)]
