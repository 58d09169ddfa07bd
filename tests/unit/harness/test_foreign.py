"""The harness works on clusters of any kind, in any time: few modules know the real ones."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

from lab import harness

ROOT: Final = Path(harness.__file__).parent
#: What only a real machine has, by how it is imported or called.
FOREIGN_IMPORTS: Final = (
    "docker",
    "lab.cluster.existing",
    "lab.cluster.kind",
    "lab.install.existing",
    "lab.install.kind",
    "sched",
    "subprocess",
)
FOREIGN_CALLS: Final = (
    "date.today",
    "datetime.now",
    "datetime.today",
    "datetime.utcnow",
    "os.popen",
    "os.system",
    "time.monotonic",
    "time.perf_counter",
    "time.sleep",
    "time.time",
)
#: Where that is so all the same, and why.
REASONS: Final = {
    ("leasing.py", "time.sleep"): "waits for another process to give a lab back",
    ("makers.py", "time.monotonic"): "tells how long it took to make a lab",
    ("makers.py", "time.sleep"): "waits for a process that was killed while it made a lab",
    ("pytest_plugin/ending.py", "time.monotonic"): "waits for another process to end",
    ("pytest_plugin/hooks.py", "subprocess"): "pytest's process has `gpulab doctor` run",
    ("series.py", "time.sleep"): "asks a server again that does not answer: no clock is to be had",
}


def foreign(text: str) -> Iterator[str]:
    """Yield what a module knows that only a real machine or cluster has."""
    for each in ast.walk(ast.parse(text)):
        match each:
            case ast.Import(names=names):
                yield from _imported(name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from _imported(f"{module}.{name.name}" for name in names)
            case ast.Attribute():
                called = ".".join(ast.unparse(each).split(".")[-2:])
                yield from (called for known in FOREIGN_CALLS if called == known)
            case ast.Constant(value=str(said)) if said.split(" ")[0] == "docker":
                yield "docker"


def _imported(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from (each for each in FOREIGN_IMPORTS if f"{name}.".startswith(f"{each}."))
        yield from (each for each in FOREIGN_CALLS if name == each)


def test_the_harness_knows_of_real_things_where_it_says_why() -> None:
    """Elsewhere it goes by the lab's clock and the lab's backend; no reason is one too many."""
    files = {file.relative_to(ROOT).as_posix(): file for file in ROOT.rglob("*.py")}
    assert len(files) > 60
    found = {
        (name, what)
        for name, file in files.items()
        for what in foreign(file.read_text(encoding="utf-8"))
    }
    assert found == REASONS.keys()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import subprocess", ["subprocess"]),
        ("import time\ntime.sleep(1)", ["time.sleep"]),
        ("from time import sleep", ["time.sleep"]),
        ("wait = time.sleep", ["time.sleep"]),
        ("import datetime\ndatetime.datetime.now()", ["datetime.now"]),
        ("from lab.cluster import kind", ["lab.cluster.kind"]),
        ("from lab.install.kind.backend import X", ["lab.install.kind"]),
        ("run(('docker', 'ps'))", ["docker"]),
        ('"""A docker ps is not run."""\nkind = "kind"', []),
    ],
)
def test_what_is_real_is_found_however_it_is_written(text: str, found: list[str]) -> None:
    """As an import, as a call, or as a program that is run."""
    assert [*foreign(text)] == found
