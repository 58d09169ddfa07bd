"""What came of the tests of a run, in files that a report is made of."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    AllowInfNan,
    AwareDatetime,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from fake_plugin.files.regular import open_regular
from lab.core.errors import UsageError
from lab.core.fleet.findings import dotted, shown
from lab.core.language import Language
from lab.harness.keeping import keep

Verdict = Literal["passed", "failed", "skipped"]
RESULT: Final = "result.json"
#: A clock may be years from the machine's, and a test last for days; beyond that nothing is told.
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime(3000, 1, 1, tzinfo=UTC)
_MOST_SECONDS: Final = 1e9
_MOST_BYTES: Final = 64 * 1024 * 1024
_MOST_NAME_BYTES: Final = 255
_MOST_PROBLEMS: Final = 5
#: What pydantic puts behind a key that is wrong by itself.
_OF_A_KEY: Final = "[key]"


def _below_the_folder(file: str) -> str:
    for part in file.split("/"):
        if part in ("", ".", "..") or "\0" in part or len(part.encode()) > _MOST_NAME_BYTES:
            raise PydanticCustomError(
                "file",
                "Should be the path of a file below the test's folder, of names that a file may "
                "have",
            )
    return file


_Started = Annotated[AwareDatetime, Field(ge=_FIRST, lt=_LAST)]
_Seconds = Annotated[float, AllowInfNan(allow_inf_nan=False), Field(ge=0, le=_MOST_SECONDS)]
_Evidence = Annotated[str, AfterValidator(_below_the_folder)]


@dataclass(frozen=True)
class Result:
    """What came of one test or scenario.

    `seconds` are from when it has its namespace until that has gone, without what its lab took.
    `titles` are by language, `report` is the text of its failure, or why it was skipped; `backend`
    and `kubernetes` are "" where nobody knows them then. `timelines` are those of its pods
    (see `lab.harness.timeline`), `files` those of its evidence, below the result's own folder.
    `run` and `options` are the name and the options of its `Run`.
    """

    run: str
    test: str
    verdict: Verdict
    started: _Started
    seconds: _Seconds
    titles: Mapping[Language, str]
    section: str
    backend: str
    kubernetes: str
    report: str = ""
    timelines: tuple[JsonValue, ...] = ()
    files: tuple[_Evidence, ...] = ()
    missing: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the contract for tools."""
        return {**asdict(self), "started": self.started.isoformat(timespec="milliseconds")}

    def write(self, folder: Path) -> None:
        """Write it into a folder; raises `OSError`."""
        keep(folder / RESULT, self.as_json())


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
    for file in _files(root):
        try:
            found.append(Found(file.parent, adapter.validate_json(_content(file))))
        except OSError as error:
            raise _unreadable(file, error.strerror or str(error)) from error
        except ValidationError as error:
            raise _unreadable(file, "\n".join(problems(error))) from error
    return tuple(sorted(found, key=lambda each: each.result.started))


def _files(root: Path) -> Sequence[Path]:
    try:
        folders = sorted(root.iterdir())
    except OSError as error:
        raise _no_results(root, error.strerror or str(error)) from error
    if os.path.lexists(root / RESULT):
        raise UsageError(
            "the folder is that of one test, and a report is of a run",
            where=str(root),
            remedy="name the folder that it is in",
            commands=(shlex.join(("gpulab", "report", str(root.absolute().parent))),),
        )
    files = [folder / RESULT for folder in folders if os.path.lexists(folder / RESULT)]
    if not files:
        empty = f"no folder with a {RESULT} is in it" if folders else "the folder is empty"
        raise _no_results(root, empty)
    return files


def _content(file: Path) -> bytes:
    with open_regular(file) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise OSError(f"it has more than {_MOST_BYTES // 1024**2} MiB, and a result has not")
    return content


def problems(error: ValidationError) -> Iterator[str]:
    """Yield what is wrong: which key, the rule, and what is there."""
    found = error.errors(include_url=False)
    for each in found[:_MOST_PROBLEMS]:
        path = dotted(tuple(part for part in each["loc"] if part != _OF_A_KEY))
        value = shown(each["input"]) if path and each["type"] != "missing" else ""
        yield ": ".join(filter(None, (path, each["msg"], value)))
    if len(found) > _MOST_PROBLEMS:
        yield f"and {len(found) - _MOST_PROBLEMS} more"


def _unreadable(file: Path, seen: str) -> UsageError:
    return UsageError(
        "a result of a test cannot be read",
        where=str(file),
        seen=seen,
        remedy="name the folder that results were written to; in that one, move this file away, or "
        "run the test again",
        commands=("gpulab report lab-evidence",),
    )


def _no_results(root: Path, seen: str) -> UsageError:
    return UsageError(
        "there are no results of tests",
        where=str(root),
        seen=seen,
        remedy="run tests or scenarios, or name the folder that they were told to write to",
        commands=("gpulab run --evidence lab-evidence",),
    )
