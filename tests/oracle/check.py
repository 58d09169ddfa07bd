"""Compares the device manager in process with Kubernetes' own, script by script.

    make check-kubelet

Each script comes from a seed. Exit code 1 where the two differ: then the shortest script that was
found to show it is written to a file, to be replayed with --replay.
"""

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Read when gRPC is imported: the real kubelet is a child of this process.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import click

from benchmarks.program import positive, run
from lab.cli.console import progress_for
from lab.core.exit_codes import ExitCode
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.node.versions import KUBERNETES
from tests.oracle.build import build
from tests.oracle.duel import Difference, Duel
from tests.oracle.script import Script, random_script, read_script
from tests.oracle.shrinking import shortest

#: Where a difference is written, by default.
_FOUND: Final = Path(tempfile.gettempdir()) / "gpulab-difference.jsonl"


def main(arguments: Sequence[str]) -> int:
    """Compare, print the table, and return the exit code."""
    options = _options(arguments)
    progress = progress_for()
    program = build(Processes(), Folders.of(), progress)
    seen = Counter[str]()

    def differ(script: Script) -> Difference | None:
        return Duel(program, script, seen).run()

    with progress.step(f"Compare with Kubernetes {KUBERNETES}") as step:
        for number, (name, script) in enumerate(_scripts(options), 1):
            step.update(f"script {number}")
            if found := differ(script):
                step.update(f"{name} differs; looking for the shortest script that does")
                _tell(name, *shortest(script, found, differ), options.write)
                return ExitCode.CHECK_FAILED
    click.echo("\n".join(table(seen)))
    return ExitCode.DONE


def table(seen: Counter[str]) -> list[str]:
    """Return how often each thing was compared, the most often first."""
    width = max(map(len, seen), default=0)
    lines = [f"{what:<{width}}  {count:>7}" for what, count in seen.most_common()]
    return [*lines, f"{'equal in all':<{width}}  {seen.total():>7}"]


def _scripts(options: argparse.Namespace) -> list[tuple[str, Script]]:
    if options.replay:
        return [(str(options.replay), read_script(options.replay.read_text()))]
    seeds = range(options.seed, options.seed + options.scripts)
    return [(f"seed {seed}", random_script(seed, options.steps)) for seed in seeds]


def _tell(name: str, script: Script, found: Difference, place: Path) -> None:
    place.write_text(script.text() + "\n")
    click.echo(f"{name}: after {len(script.steps)} steps the two differ in: {found.what}")
    click.echo(f"  Kubernetes: {found.real}")
    click.echo(f"  gpu-lab:    {found.simulated}")
    click.echo(script.text())
    click.echo(f'again: make check-kubelet ARGS="--replay {place}"')


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make check-kubelet", allow_abbrev=False)
    parser.add_argument("--scripts", type=positive, default=100)
    parser.add_argument("--steps", type=positive, default=40, help="of each script")
    parser.add_argument("--seed", type=int, default=0, help="of the first script")
    parser.add_argument("--replay", type=Path, help="a file with one script")
    parser.add_argument("--write", type=Path, default=_FOUND, help="where a difference goes")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    run(main)
