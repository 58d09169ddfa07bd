"""The kind program: found on this machine, or put into the cache.

Four ways, in an order that changes least: the user's own, the one of an earlier run, a build with
the user's Go (which works behind a blocked release page), the published release. None of them
writes outside of the lab's cache folder.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.version import Version

from lab.cluster.kind.release import RELEASES, asset_address, fetch
from lab.core.errors import LabError, NotReady, TimedOut
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes, ProcessFailed

#: The version that the lab is tested with: the least that is taken from the PATH, and what is
#: installed where there is none.
PINNED: Final = "v0.33.0"
MODULE: Final = f"sigs.k8s.io/kind@{PINNED}"

_ANSWER_SECONDS: Final = 10
#: A cold build took 71 s on two busy cores; a slow module proxy may need far longer.
_BUILD_SECONDS: Final = 15 * 60
_VERSION: Final = re.compile(r"\bkind v(\d+\.\d+\.\d+\S*)")


@dataclass(frozen=True)
class Kind:
    """A kind program that answered: where it is, and its version, such as `v0.33.0`."""

    path: Path
    version: str

    @property
    def recent(self) -> bool:
        """Whether it is at least the pinned version; a pre-release of it is not."""
        return Version(self.version) >= Version(PINNED)


@dataclass(frozen=True)
class _Search:
    """What each of the ways is given."""

    processes: Processes
    cache: Path
    progress: Progress
    releases: str

    @property
    def target(self) -> Path:
        return self.cache / "kind" / PINNED / "kind"


def find_kind(
    processes: Processes, folders: Folders, progress: Progress, *, releases: str = RELEASES
) -> Kind:
    """Return a kind of at least the pinned version, installed into the cache where need be.

    `releases` is the address under which the releases are published. Raises `NotReady` with each
    of the ways that were tried and why it failed, and `Interrupted`.
    """
    search = _Search(processes, folders.cache, progress, releases)
    failures = []
    for title, way in WAYS:
        try:
            return way(search)
        except (NotReady, ProcessFailed, TimedOut, OSError) as error:
            failures.append(f"{title}: {_reason(error)}")
    raise NotReady(
        f"there is no kind of at least {PINNED}, and none could be installed",
        where=str(search.target),
        seen="\n".join(failures),
        remedy=f"install kind {PINNED} or newer on the PATH, then ask again",
        commands=(
            f"go install {MODULE}",
            f"curl -fLo kind {asset_address(releases, PINNED)} && sudo install kind /usr/local/bin",
        ),
    )


def kind_on_path(processes: Processes) -> Kind:
    """Return the kind on the PATH, of whatever version; `NotReady` where none answers."""
    found = shutil.which("kind")
    if found is None:
        raise NotReady("there is no program `kind`")
    return ask_version(processes, Path(found))


def cached_kind(processes: Processes, folders: Folders) -> Kind:
    """Return the kind that an earlier run installed; `NotReady` where none answers."""
    path = _Search.target.fget
    raise NotImplementedError(path)


def ask_version(processes: Processes, path: Path) -> Kind:
    """Ask a program which kind it is. Raises `NotReady` where its answer names no version."""
    asked = processes.run((path, "version"), check=False, timeout=_ANSWER_SECONDS)
    found = _VERSION.search(asked.stdout)
    if not asked.ok or found is None:
        raise NotReady(f"{path} does not answer with its version", seen=asked.tail())
    return Kind(path, f"v{found[1]}")
