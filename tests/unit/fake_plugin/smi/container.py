"""A container as the tools see it: a table in a folder, variables, and every shell there is."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fake_plugin.hardware.reading import Reading
from fake_plugin.smi import programs, table

#: dash and bash are in every Debian, and busybox is what the smallest images have. It comes last,
#: as one that may have a `date` and a `sleep` inside, where the PATH does not matter.
SHELLS = tuple(
    (path, *words[1:])
    for words in (("dash",), ("bash",), ("busybox", "sh"))
    if (path := shutil.which(words[0]))
)
_DATE = """#!/bin/sh
case $1 in
    '+%a %b %e %H:%M:%S %Y') echo 'Mon Jan  6 01:02:03 2025' ;;
    '+%Y/%m/%d %H:%M:%S.000') echo '2025/01/06 01:02:03.000' ;;
    *) exit 1 ;;
esac
"""
_TIMES = re.compile(r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")
_TIME = "Tue Aug 26 15:49:52 2025"
_STAMPS = re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.000")
_STAMP = "2025/08/26 15:49:52.000"
_SECONDS = 30


@dataclass(frozen=True)
class Told:
    """What a tool said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Return the lines of the output."""
        return self.out.splitlines()


class Container:
    """Runs the tools with nothing on the PATH but a `date`; in what is told, time stands still."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.units = folder / "units"
        self.work = folder / "work"
        self._bin = folder / "bin"
        for each in (self.work, self._bin):
            each.mkdir(parents=True)
        self.put_on_path("date", _DATE)
        for program in programs.PROGRAMS.values():
            text = programs.text(program, str(self.units / table.NAME))
            (folder / program).write_text(text)

    def put_on_path(self, name: str, script: str) -> None:
        """Add a program to the image."""
        (self._bin / name).write_text(script)
        (self._bin / name).chmod(0o755)

    def show(self, readings: Iterable[Reading]) -> None:
        """Write the table of the node."""
        table.write(self.units, readings)

    def run(self, program: str, *arguments: str, shells: int = 0, **variables: str) -> Told:
        """Return what every shell makes of it, or the first `shells`: they have to agree."""
        environment = {"PATH": str(self._bin), **variables}
        told = {
            shell: self._run(shell, program, arguments, environment)
            for shell in SHELLS[: shells or len(SHELLS)]
        }
        first = next(iter(told.values()))
        assert told == dict.fromkeys(told, first)
        return first

    def _run(
        self,
        shell: tuple[str, ...],
        program: str,
        arguments: Iterable[str],
        environment: Mapping[str, str],
    ) -> Told:
        ran = subprocess.run(
            [*shell, str(self.folder / program), *arguments],
            env=environment,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        out = _STAMPS.sub(_STAMP, _TIMES.sub(_TIME, ran.stdout))
        return Told(ran.returncode, out, ran.stderr)
