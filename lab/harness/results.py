"""What came of the tests of a run, in files that a report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from lab.core.errors import UsageError
from lab.core.language import Language
from lab.harness.keeping import keep

Verdict = Literal["passed", "failed", "skipped"]
_FILE: Final = "result.json"


@dataclass(frozen=True)
class Result:
    """What came of one test or scenario.

    `titles` are by language, `report` is the text of its failure, or why it was skipped; `backend`
    and `kubernetes` are "" where nobody knows them then. `timelines` are those of its pods
    (see `lab.harness.timeline`), `files` those of its evidence, below the result's own folder.
    `run` and `options` are the name and the options of its `Run`.
    """

    run: str
    test: str
    verdict: Verdict
    started: datetime
    seconds: float
    titles: Mapping[Language, str]
    section: str
    backend: str
    kubernetes: str
    report: str = ""
    timelines: tuple[JsonValue, ...] = ()
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the contract for tools."""
        return {**asdict(self), "started": self.started.isoformat(timespec="milliseconds")}

    def write(self, folder: Path) -> None:
        """Write it into a folder; raises `OSError`."""
        keep(folder / _FILE, self.as_json())


@dataclass(frozen=True)
class Found:
    """A result, and the folder that it and its evidence are in."""

    folder: Path
    result: Result


def newest_run(found: Sequence[Found]) -> tuple[Found, ...]:
    """Return the results of the run in which a test began last, in the order that they have.

    A folder keeps what earlier runs have left of tests that did not run again.
    """
    last = max(found, key=lambda each: each.result.started).result.run
    return tuple(each for each in found if each.result.run == last)


def results_in(root: Path) -> tuple[Found, ...]:
    """Return the results below a folder in the order in which the tests began.

    Raises `UsageError` where there are none, or where a file is not one.
    """
    adapter = TypeAdapter(Result)
    found = []
    for file in root.glob(f"*/{_FILE}"):
        try:
            found.append(Found(file.parent, adapter.validate_json(file.read_bytes())))
        except (OSError, ValidationError) as error:
            raise UsageError(
                "a result of a test cannot be read",
                where=str(file),
                seen=str(error),
                remedy="remove it, or run the test again",
            ) from error
    if not found:
        raise UsageError(
            "there are no results of tests",
            where=str(root),
            remedy="run tests or scenarios, or name the folder that they were told to write to",
            commands=("gpulab run --evidence lab-evidence",),
        )
    return tuple(sorted(found, key=lambda each: each.result.started))
