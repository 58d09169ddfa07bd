"""Measures our device plugin beside upstream's sample, as plain processes on one node in one run.

    make bench-plugin

All take turns, round after round, because machines are noisy and drift; each figure is the median
of what all rounds gave, or what its line names. Exit code 1 where a budget is missed.
"""

import argparse
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contenders import Library, Ours, Sample
from benchmarks.figures import Table
from benchmarks.measurements import Bench, Extent
from benchmarks.node import starter
from benchmarks.program import positive, run
from benchmarks.upstream import build
from lab.cli.console import progress_for
from lab.core.exit_codes import ExitCode
from lab.host.folders import Folders
from lab.host.processes import Processes


def main(arguments: Sequence[str]) -> int:
    """Measure, print the table, and return the exit code."""
    options = _options(arguments)
    extent = Extent(options.rounds, options.flaps, options.calls)
    progress = progress_for()
    load = os.getloadavg()[0]
    upstream: tuple[Sample, Library] | None = None
    begin: tuple[str, ...] = ()
    if not options.alone:
        begin = starter()
        sample, library = build(Processes(), Folders.of(), progress)
        upstream = Sample(begin, sample), Library(begin, library)
    with tempfile.TemporaryDirectory(prefix="gpulab-bench-") as bytecode:
        ours = Ours((*begin, "--root=/") if begin else (), Path(bytecode))
        bench = Bench(extent, ours, upstream, progress)
        bench.run()
    print(
        f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, "
        f"Python {platform.python_version()}, load {load:.2f} before the first round\n"
    )
    return report(bench.table)


def report(table: Table) -> ExitCode:
    """Print the table and the budgets that are missed; return what that means."""
    print(*table.lines(), sep="\n")
    missed = table.missed()
    for row in missed:
        figure = row.figures.get(table.columns[0], "nothing")
        shown = figure if isinstance(figure, str) else f"{figure:.1f} {row.unit}"
        print(f"budget missed: {row.title}: {shown}, at most {row.budget:g} {row.unit}")
    return ExitCode.CHECK_FAILED if missed else ExitCode.DONE


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench-plugin", allow_abbrev=False)
    parser.add_argument("--rounds", type=positive, default=5, help="turns of each plugin")
    parser.add_argument("--flaps", type=positive, default=500, help="in all rounds together")
    parser.add_argument("--calls", type=positive, default=500, help="of Allocate, in all rounds")
    parser.add_argument("--alone", action="store_true", help="measure our plugin only")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    run(main)
