"""The labs of one test run, whatever processes its tests run in, and who has which of them.

Devices belong to nodes and not to namespaces: two tests on one lab would see each other's. So a
test has a lab to itself for as long as it lasts. A lab is made when a test needs it and none is
free, up to a number; which of them is used is settled by locks that go with the process that holds
them, so a worker that crashes blocks nobody.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Protocol

from filelock import FileLock, Timeout

from fake_plugin.files.replacement import replace as replace_file
from lab.core.errors import LabError, NotReady
from lab.core.fleet import Fleet, dump_fleet
from lab.install.status import RunningLab

#: How long to wait before looking again for a lab that another process has given back.
_LOOK_SECONDS: Final = 0.2
_PRIVATE: Final = 0o600


class Maker(Protocol):
    """Makes labs and takes them away, whatever they run on."""

    def make(self, name: str, fleet: Fleet) -> RunningLab:
        """Make a lab with a fleet."""
        ...

    def take(self, name: str, fleet: Fleet | None) -> RunningLab:
        """Return a lab that is there, with another fleet placed on it if one is given."""
        ...

    def take_down(self, name: str) -> None:
        """Take a lab away, or what there is of it."""
        ...


class SetupFailedBefore(NotReady):
    """No lab could be made for an earlier test of the run, so nobody tries again."""


@dataclass(frozen=True)
class Entry:
    """What is known of one lab: the text of its fleet, and the test that uses it, or has used it.

    A test whose name is still there when another one gets the lab has not ended as it should.
    """

    fleet: str = ""
    test: str = ""


@dataclass(frozen=True)
class Leases:
    """Up to `most` labs, named after the run; `folder` is the same in all of its processes."""

    run: str
    folder: Path
    most: int
    maker: Maker

    @contextmanager
    def lease(self, fleet: Fleet, test: str) -> Iterator[RunningLab]:
        """Have a lab with this fleet inside the block, and nobody else with it.

        One on which the last test did not end as it should is made anew. Raises the error of who
        makes the lab, and `SetupFailedBefore` where one could not be made before.
        """
        with self._free(dump_fleet(fleet)) as number:
            lab = self._lab(number, fleet, test)
            yield lab
            self._write(number, replace(self._read(number), test=""))

    def names(self) -> tuple[str, ...]:
        """Return the labs that were made, or begun."""
        return tuple(self._name(each) for each in range(self.most) if self._file(each).exists())

    def _lab(self, number: int, fleet: Fleet, test: str) -> RunningLab:
        name, wanted = self._name(number), dump_fleet(fleet)
        known = self._read(number) if self._file(number).exists() else None
        if known and known.test:
            self.maker.take_down(name)
            known = None
        self._write(number, Entry(test=test))
        if known is None:
            lab = self._made(name, fleet)
        else:
            lab = self.maker.take(name, None if known.fleet == wanted else fleet)
        self._write(number, Entry(wanted, test))
        return lab

    def _made(self, name: str, fleet: Fleet) -> RunningLab:
        if self._failure.exists():
            raise SetupFailedBefore(
                "no lab could be made for an earlier test of this run",
                seen=self._failure.read_text(encoding="utf-8"),
                remedy="see the first error of the run",
            )
        try:
            return self.maker.make(name, fleet)
        except LabError as error:
            self._failure.write_text(error.render(), encoding="utf-8")
            raise

    @contextmanager
    def _free(self, wanted: str) -> Iterator[int]:
        """Hold a lab that nobody uses: with that fleet, else with another one, else a new one."""
        while (held := self._hold_one(wanted)) is None:
            time.sleep(_LOOK_SECONDS)
        number, lock = held
        try:
            yield number
        finally:
            lock.release()

    def _hold_one(self, wanted: str) -> tuple[int, FileLock] | None:
        for number in sorted(range(self.most), key=lambda each: self._cost(each, wanted)):
            lock = FileLock(self.folder / f"lab-{number}.lock", timeout=0)
            try:
                lock.acquire()
            except Timeout:
                continue
            return number, lock
        return None

    def _cost(self, number: int, wanted: str) -> int:
        if not self._file(number).exists():
            return 2
        return 0 if self._read(number).fleet == wanted else 1

    @property
    def _failure(self) -> Path:
        return self.folder / "failure.txt"

    def _name(self, number: int) -> str:
        return f"{self.run}-{number}"

    def _file(self, number: int) -> Path:
        return self.folder / f"lab-{number}.json"

    def _read(self, number: int) -> Entry:
        return Entry(**json.loads(self._file(number).read_text(encoding="utf-8")))

    def _write(self, number: int, entry: Entry) -> None:
        replace_file(self._file(number), (json.dumps(asdict(entry)),), _PRIVATE)
