"""What is measured beside each other: each runs with so many devices, and may be told to flap."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

from benchmarks.node import Running, new_node
from benchmarks.ours import Fleet, last_change, prepare


@dataclass(frozen=True)
class Contestant:
    """A plugin in the ring: `devices` are those of its first list.

    `flap` changes the first device; `last_change` says when the hardware was last changed, in
    seconds as `time.time` has them, and how much of it is broken since.
    """

    running: Running
    devices: list[str]
    flap: Callable[[], None]
    last_change: Callable[[], tuple[float, int]]


class Contender(Protocol):
    """One column of the table."""

    @property
    def column(self) -> str:
        """Return its name in the table."""
        ...

    def running(self, devices: int) -> AbstractContextManager[Contestant]:
        """Run the plugin with that many devices, from registered to ended."""
        ...


@dataclass(frozen=True)
class Ours:
    """Our plugin, flapped by its control API; `starter` begins its command line.

    Python finds its byte code in `bytecode`, as it does in the image, once a first run has put it
    there.
    """

    starter: tuple[str, ...]
    bytecode: Path
    column: str = "gpu-lab"

    @contextmanager
    def running(self, devices: int) -> Iterator[Contestant]:
        """See `Contender`."""
        with self.serving(Fleet(devices)) as contestant:
            yield contestant

    @contextmanager
    def serving(self, fleet: Fleet) -> Iterator[Contestant]:
        """Run the plugin with what a fleet gives to its node."""
        with new_node() as node:
            argv, control = prepare(node, fleet)
            environment = {
                "PYTHONPYCACHEPREFIX": str(self.bytecode),
                "PYTHONDONTWRITEBYTECODE": "",
            }
            with node.running(
                (*self.starter, *argv), resources=fleet.resources, environment=environment
            ) as running:
                devices = running.plugins[0].next_list().ids()
                yield Contestant(
                    running,
                    devices,
                    flap=lambda: control.flap(devices[0]),
                    last_change=lambda: last_change(node.state_dir),
                )


@dataclass(frozen=True)
class Sample:
    """Upstream's sample; it has two devices, whatever it is asked for, and they never flap."""

    starter: tuple[str, ...]
    program: Path
    column: str = "upstream sample"

    @contextmanager
    def running(self, devices: int) -> Iterator[Contestant]:
        """See `Contender`."""
        del devices
        with _upstream(self.starter, self.program) as running:
            yield Contestant(running, running.plugin.next_list().ids(), _cannot, _cannot)


@dataclass(frozen=True)
class Library:
    """Upstream's library with a main of ours, flapped by a line on its standard input."""

    starter: tuple[str, ...]
    program: Path
    column: str = "upstream library"

    @contextmanager
    def running(self, devices: int) -> Iterator[Contestant]:
        """See `Contender`."""
        with _upstream(self.starter, self.program, str(devices)) as running:
            assert running.process.stdin  # noqa: S101 - for the type checker: it is a pipe
            told = running.process.stdin

            def flap() -> None:
                told.write(b"\n")
                told.flush()

            yield Contestant(running, running.plugin.next_list().ids(), flap, _cannot)


@contextmanager
def _upstream(starter: tuple[str, ...], program: Path, *arguments: str) -> Iterator[Running]:
    with new_node() as node:
        shutil.copy(program, node.root)
        command = (*starter, f"--root={node.root}", f"/{program.name}", *arguments)
        with node.running(command) as running:
            yield running


def _cannot() -> NoReturn:
    raise AssertionError("only our plugin can be asked for that")
