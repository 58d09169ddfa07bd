"""Measures our device plugin beside upstream's sample, as plain processes on one node in one run.

    make bench-plugin

All take turns, round after round, because machines are noisy and drift; each figure is the median
of what all rounds gave, or what its line names. Exit code 1 where a budget is missed.
"""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.contenders import Contender, Contestant, Library, Ours, Sample
from benchmarks.figures import Row, Table, percentile
from benchmarks.node import MIB, starter
from benchmarks.ours import Fleet
from benchmarks.upstream import build
from fake_plugin.api.deviceplugin_pb2 import AllocateRequest, ContainerAllocateRequest
from lab.cli.console import progress_for
from lab.core.errors import LabError
from lab.core.exit_codes import ExitCode
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes

FEW: Final = 8
MANY: Final = 20_000
RESOURCES: Final = 64
#: How many devices, in one request and in the list; and of how many calls one is made.
ALLOCATED: Final = {1: 1, 100: 1, 10_000: 10}
#: Budgets, at the worst.
FEW_MIB: Final = 50.0
MANY_MIB: Final = 80.0
P99: Final = partial(percentile, percent=99)


@dataclass(frozen=True)
class Counts:
    """How often each thing is done: rounds, and calls in all rounds together."""

    rounds: int
    calls: int


@dataclass
class Series:
    """Values of one kind, by column; a note stands where a column has no values."""

    notes: dict[str, str] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, contender: Contender, value: float) -> None:
        """Take in a value."""
        self.values.setdefault(contender.column, []).append(value)

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
        counts: Counts,
        ours: Ours,
        upstream: tuple[Sample, Library] | None,
        progress: Progress,
    ) -> None:
        self.counts = counts
        self.ours = ours
        self.all: tuple[Contender, ...] = (ours, *upstream) if upstream else (ours,)
        self.scaling: tuple[Contender, ...] = (ours, upstream[1]) if upstream else (ours,)
        self.table = Table(tuple(each.column for each in self.all))
        self._progress = progress

    def run(self) -> None:
        """Measure everything."""
        with self._progress.step("first run: byte code"), self.ours.running(FEW):
            pass
        self.start_and_memory(FEW, FEW_MIB, self.all)
        self.start_and_memory(MANY, MANY_MIB, self.scaling)
        self.many_resources()
        for number, one_of in ALLOCATED.items():
            self.allocate(number, self.counts.calls // one_of)

    def start_and_memory(
        self, devices: int, budget: float, contenders: Sequence[Contender]
    ) -> None:
        """Start to registered, and what the process weighs then."""
        start, rss, pss, peak = (Series() for _ in range(4))
        with self._progress.step(f"{devices} devices: start and memory"):
            for _ in range(self.counts.rounds):
                for each in contenders:
                    with each.running(devices) as contestant:
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
        start, rss = Series(), Series()
        with self._progress.step(f"{RESOURCES} resources: start and memory"):
            for _ in range(self.counts.rounds):
                with self.ours.serving(Fleet(FEW, RESOURCES)) as contestant:
                    start.add(self.ours, contestant.running.seconds * 1000)
                    rss.add(self.ours, contestant.running.memory.rss / MIB)
        self.table.rows += [
            start.row(f"start to all registered, {RESOURCES} resources", "ms"),
            rss.row(f"memory (RSS), {RESOURCES} resources, worst", "MiB", max),
        ]

    def allocate(self, number: int, calls: int) -> None:
        """Allocate all devices of the list in one request, so often in all rounds together."""
        series = Series()
        in_round = max(1, calls // self.counts.rounds)
        with self._progress.step(f"Allocate of {number} devices"):
            for _ in range(self.counts.rounds):
                for each in self.all:
                    with each.running(number) as contestant:
                        for seconds in _allocations(contestant, number, in_round):
                            series.add(each, seconds * 1000)
        title = f"Allocate, {number} of {number} devices"
        self.table.rows += [
            series.row(f"{title}, median", "ms"),
            series.row(f"{title}, p99 of {in_round * self.counts.rounds}", "ms", P99),
        ]


def _allocations(contestant: Contestant, number: int, calls: int) -> list[float]:
    # The sample has two devices only: its are asked for again and again.
    known = contestant.devices
    ids = [known[at % len(known)] for at in range(number)]
    container = ContainerAllocateRequest(devices_ids=ids)
    request = AllocateRequest(container_requests=[container]).SerializeToString()
    plugin = contestant.running.plugin
    # The first call also finds the connection's way.
    return [plugin.allocate_seconds(request) for _ in range(calls + 1)][1:]


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and return the exit code."""
    options = _options(arguments)
    counts = Counts(options.rounds, options.calls)
    progress = progress_for()
    begin = starter()
    programs = None if options.alone else build(Processes(), Folders.of(), progress)
    upstream = (Sample(begin, programs[0]), Library(begin, programs[1])) if programs else None
    with tempfile.TemporaryDirectory(prefix="gpulab-bench-") as bytecode:
        bench = Bench(counts, Ours(begin, Path(bytecode)), upstream, progress)
        bench.run()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()},", end=" ")
    print(f"Python {platform.python_version()}, load {os.getloadavg()[0]:.2f}", end="\n\n")
    print("\n".join(bench.table.lines()))
    missed = bench.table.missed()
    for row in missed:
        print(f"budget missed: {row.title}: {row.figures} {row.unit}, budget {row.budget:g}")
    return ExitCode.CHECK_FAILED if missed else ExitCode.DONE


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-plugin", allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--alone", action="store_true", help="measure our plugin only")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        print(error.render(), file=sys.stderr)
        sys.exit(error.exit_code)
