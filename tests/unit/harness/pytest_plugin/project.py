"""A project of somebody else, whose tests have labs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[4]
_ENDS_SECONDS = 120


@dataclass(frozen=True)
class Ended:
    """A run of pytest that has ended."""

    code: int
    text: str


@dataclass(frozen=True)
class Project:
    """A folder with tests, and a state folder beside it."""

    folder: Path
    labs: Path
    state: Path
    environment: dict[str, str] = field(default_factory=dict)
    #: The module that stands in for labs; "" for none.
    stand_in: str = "tests.unit.harness.pytest_plugin.lab_stand_in"

    def write(self, **files: str) -> None:
        """Write files, by their names without the ending; two underscores stand for a slash."""
        for name, text in files.items():
            file = self.folder / f"{name.replace('__', '/')}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")

    def run(self, *arguments: str, **environment: str) -> Ended:
        """Run its tests to their end."""
        with self.running(*arguments, **environment) as child:
            text, _ = child.communicate(timeout=_ENDS_SECONDS)
        return Ended(child.returncode, text)

    @contextmanager
    def running(self, *arguments: str, **environment: str) -> "Iterator[subprocess.Popen[str]]":
        """Run its tests beside the block, in a group of processes of their own."""
        stand_in = ("-p", self.stand_in) if self.stand_in else ()
        plugins = (*stand_in, "-p", "no:cacheprovider")
        with subprocess.Popen(
            (sys.executable, "-m", "pytest", *plugins, *arguments),
            cwd=self.folder,
            env={**self._environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # Whoever runs these tests in the background has them ignore Ctrl-C.
            preexec_fn=_heed_interrupts,  # noqa: PLW1509 - there are no threads here
        ) as child:
            try:
                yield child
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)

    @property
    def told(self) -> list[str]:
        """What was done to labs, in order."""
        file = self.labs / "told"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def left(self) -> list[str]:
        """Return the labs and the files of runs that are there."""
        places = (self.labs / "labs", self.state)
        return [path.name for place in places if place.exists() for path in place.iterdir()]

    @property
    def cache(self) -> Path:
        """The folder of the cache, beside that of the state."""
        return self.state.with_name("cache")

    @property
    def _environment(self) -> Mapping[str, str]:
        own = {
            "FAKE_LABS": str(self.labs),
            "GPULAB_STATE_HOME": str(self.state),
            "GPULAB_CACHE_HOME": str(self.cache),
            "PYTHONPATH": str(ROOT),
        }
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        return {**kept, **own, **self.environment}


def _heed_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
