"""The kind program: found on this machine, or put into the cache.

Four ways, in the order that changes least: the user's own, the one of an earlier run, a build with
the user's Go (which also works behind a blocked release page), the published release. None of them
writes outside of the lab's cache folder.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import InvalidVersion, Version

from lab.cluster.kind.release import RELEASES, Asset
from lab.core import pins
from lab.core.errors import NotReady, TimedOut
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes, ProcessFailed

_ANSWER_SECONDS: Final = 10
#: A cold build took 71 s on two busy cores; a slow network to fetch the modules comes on top.
_BUILD_SECONDS: Final = 15 * 60
_VERSION: Final = re.compile(r"\bkind (v\d+\.\d+\.\d+\S*)")


@dataclass(frozen=True)
class Kind:
    """A kind program that answered: where it is, and its version, such as `v0.33.0`."""

    path: Path
    version: str

    @property
    def recent(self) -> bool:
        """Whether it is at least the pinned version; a pre-release of that one is not."""
        try:
            return Version(self.version) >= Version(pins.KIND)
        except InvalidVersion:
            return False


@dataclass(frozen=True)
class _Search:
    """What each of the ways is given."""

    processes: Processes
    progress: Progress
    target: Path
    releases: str


def find_kind(
    processes: Processes, folders: Folders, progress: Progress, *, releases: str = RELEASES
) -> Kind:
    """Return a kind of at least the pinned version, installed into the cache where need be.

    `releases` is the address under which releases are published. Raises `NotReady` with each of
    the ways that were tried and why it failed, and `Interrupted` after `processes.cancel()`.
    """
    search = _Search(processes, progress, cached_path(folders), releases)
    failures = []
    for title, way in _WAYS:
        try:
            return way(search)
        except (NotReady, ProcessFailed, TimedOut, OSError) as error:
            failures.append(f"{title}: {_reason(error)}")
    raise NotReady(
        f"there is no kind of at least {pins.KIND}, and none could be installed",
        seen="\n".join(failures),
        remedy=f"put kind {pins.KIND} or newer on the PATH, then ask again",
        commands=(
            f"go install {pins.KIND_MODULE}",
            f"curl -fLo kind {Asset.of_this_machine(pins.KIND, releases).address}",
            "sudo install kind /usr/local/bin/kind",
        ),
    )


def cached_path(folders: Folders) -> Path:
    """Return where a kind of the pinned version is installed to."""
    return folders.cache / "kind" / pins.KIND / "kind"


def kind_on_path(processes: Processes) -> Kind:
    """Return the kind on the PATH, however old. Raises `NotReady` where none answers."""
    found = shutil.which("kind")
    if found is None:
        raise NotReady("there is no such program")
    return ask_version(processes, Path(found))


def cached_kind(processes: Processes, path: Path) -> Kind:
    """Return the kind that an earlier run installed. Raises `NotReady` where it is not intact."""
    if not path.exists():
        raise NotReady(f"{path} is not there")
    kind = ask_version(processes, path)
    if kind.version != pins.KIND:
        raise NotReady(f"{path} says that it is {kind.version}")
    return kind


def ask_version(processes: Processes, path: Path) -> Kind:
    """Ask a program which kind it is. Raises `NotReady` where its answer names no version."""
    asked = processes.run((path, "version"), check=False, timeout=_ANSWER_SECONDS)
    found = _VERSION.search(asked.stdout)
    if not asked.ok or found is None:
        raise NotReady(f"{path} does not say its version", seen=asked.tail())
    return Kind(path, found[1])


def _from_path(search: _Search) -> Kind:
    kind = kind_on_path(search.processes)
    if not kind.recent:
        too_old = f"{kind.path} is {kind.version}, and the lab needs {pins.KIND} or newer"
        search.progress.note(f"{too_old}: using a kind of its own")
        raise NotReady(too_old)
    return kind


def _from_cache(search: _Search) -> Kind:
    return cached_kind(search.processes, search.target)


def _from_module(search: _Search) -> Kind:
    if shutil.which("go") is None:
        raise NotReady("there is no program `go`")

    with search.progress.step(f"Building kind {pins.KIND} with Go") as step:

        def build(folder: Path) -> None:
            # Outside of any module of the user, whose go.mod would have a say otherwise.
            search.processes.run(
                ("go", "install", pins.KIND_MODULE),
                cwd=folder,
                env={"GOBIN": str(folder)},
                timeout=_BUILD_SECONDS,
                on_line=step.update,
            )

        return _install(search, build)


def _from_release(search: _Search) -> Kind:
    asset = Asset.of_this_machine(pins.KIND, search.releases)
    with search.progress.step(f"Downloading kind {pins.KIND}") as step:

        def download(folder: Path) -> None:
            asset.fetch(folder / "kind", step, lambda: search.processes.cancelled)

        return _install(search, download)


def _install(search: _Search, put: Callable[[Path], None]) -> Kind:
    """Let `put` make `kind` in a folder of its own, ask it, and move it into place.

    Two labs that start at once thus both end with a whole program, whoever comes last.
    """
    target = search.target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as folder:
        put(Path(folder))
        fresh = cached_kind(search.processes, Path(folder, "kind"))
        fresh.path.replace(target)
    return Kind(target, fresh.version)


def _reason(error: Exception) -> str:
    """Return one line: the last of another program's words say most (`go` ends with its error)."""
    if isinstance(error, ProcessFailed):
        return f"{error.what}: {error.seen.splitlines()[-1].strip()}"
    if isinstance(error, NotReady | TimedOut):
        return f"{error.what}: {error.seen}" if error.seen else error.what
    return str(error)


_WAYS: Final[tuple[tuple[str, Callable[[_Search], Kind]], ...]] = (
    ("on the PATH", _from_path),
    ("in the cache", _from_cache),
    ("built with Go", _from_module),
    ("downloaded", _from_release),
)
