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
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from filelock import FileLock, Timeout

from fake_plugin.files.replacement import replace
from lab.core.errors import LabError, NotReady, UsageError
from lab.core.fleet import Fleet, dump_fleet
from lab.install.backend import NoPlace

if TYPE_CHECKING:
    from lab.install.status import RunningLab

#: How long to wait before looking again for a lab that another process has given back.
_LOOK_SECONDS: Final = 0.2
_PRIVATE: Final = 0o600


class Maker(Protocol):
    """Makes labs and takes them away, whatever they run on.

    Raises `NoPlace` for a fleet that does not fit: nothing has changed then.
    """

    def make(self, name: str, fleet: Fleet) -> "RunningLab":
        """Make a lab with a fleet."""
        ...

    def take(self, name: str, fleet: Fleet | None) -> "RunningLab":
        """Return a lab that is there, with another fleet placed on it if one is given."""
        ...

    def take_down(self, name: str) -> None:
        """Take a lab away, or what there is of it."""
        ...


class SetupFailedBefore(NotReady):
    """No lab could be had for an earlier test of the run, so nobody tries again."""


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
    def lease(self, fleet: Fleet, test: str) -> Iterator["RunningLab"]:
        """Have a lab with this fleet inside the block, and nobody else with it.

        One on which the last test did not end as it should is made anew. Raises the error of who
        makes the lab, `NoPlace` for a fleet that does not fit there, and `SetupFailedBefore` where
        no lab could be made, or given its fleet, before.
        """
        with self._free(dump_fleet(fleet)) as number:
            lab = self._lab(number, fleet, test)
            yield lab
            self._write(number, Entry(dump_fleet(fleet)))

    def take_down(self) -> None:
        """Take all labs down; raises what the maker raises, and knows of the rest still."""
        for number in range(self.most):
            if self._file(number).exists():
                self.maker.take_down(self._name(number))
                self._file(number).unlink()

    def _lab(self, number: int, fleet: Fleet, test: str) -> "RunningLab":
        name, wanted = self._name(number), dump_fleet(fleet)
        known = self._read(number)
        if known and known.test:
            self._refuse_another_try()
            self.maker.take_down(name)
            known = None
        self._write(number, Entry(test=test))
        try:
            lab = self._taken(name, known, fleet) if known else self._made(name, fleet)
        except NoPlace:
            self._write(number, known) if known else self._file(number).unlink()
            raise
        self._write(number, Entry(wanted, test))
        return lab

    def _taken(self, name: str, known: Entry, fleet: Fleet) -> "RunningLab":
        wanted = None if known.fleet == dump_fleet(fleet) else fleet
        # An order that a lab refuses is about this fleet: others may do.
        with self._told_once(but=UsageError):
            return self.maker.take(name, wanted)

    def _made(self, name: str, fleet: Fleet) -> "RunningLab":
        self._refuse_another_try()
        with self._told_once(but=NoPlace):
            return self.maker.make(name, fleet)

    @contextmanager
    def _told_once(self, but: type[LabError]) -> Iterator[None]:
        """Note an error of the run's; one of the kind `but` is the matter of one test."""
        try:
            yield
        except but:
            raise
        except LabError as error:
            try:
                with self._failure.open("x", encoding="utf-8") as file:
                    file.write(error.render())
            except FileExistsError:
                # Two failed side by side: the error is told once.
                raise self._failed_before() from error
            raise

    def _refuse_another_try(self) -> None:
        if self._failure.exists():
            raise self._failed_before()

    def _failed_before(self) -> SetupFailedBefore:
        return SetupFailedBefore(
            "no lab could be had for an earlier test of this run",
            seen=self._failure.read_text(encoding="utf-8"),
            remedy="see the first error of the run",
        )

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
        for number in sorted(self._candidates(), key=lambda each: self._cost(each, wanted)):
            lock = FileLock(self._lock(number), timeout=0)
            try:
                lock.acquire()
            except Timeout:
                continue
            return number, lock
        return None

    def _candidates(self) -> list[int]:
        """Return the labs that can be had; where one could not, those that there are."""
        every = [*range(self.most)]
        there = [each for each in every if (known := self._read(each)) and known.fleet]
        return there if there and self._failure.exists() else every

    def _cost(self, number: int, wanted: str) -> int:
        known = self._read(number)
        if known is None:
            return 2
        return 0 if known.fleet == wanted else 1

    @property
    def _failure(self) -> Path:
        return self.folder / "failure.txt"

    def _name(self, number: int) -> str:
        return f"{self.run}-{number}"

    def _file(self, number: int) -> Path:
        return self.folder / f"lab-{number}.json"

    def _lock(self, number: int) -> Path:
        return self.folder / f"lab-{number}.lock"

    def _read(self, number: int) -> Entry | None:
        """Return what is known of a lab, None where there is none: who has it may let it go."""
        try:
            text = self._file(number).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return Entry(**json.loads(text))

    def _write(self, number: int, entry: Entry) -> None:
        replace(self._file(number), (json.dumps(asdict(entry)),), _PRIVATE)
