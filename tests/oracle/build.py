"""The program that upstream's code is asked through, compiled for this check only."""

from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.upstream import program_part
from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.compiler import Compiler
from lab.images.store import Part, Store
from lab.images.toolchain import find_go

NAME: Final = "kubelet-oracle"
_SOURCES: Final = Path(__file__).parent / "go"


def build(processes: Processes, folders: Folders, progress: Progress) -> Path:
    """Return the program, compiled now where it is not there.

    It lies in the cache of the benchmarks, and is compiled as they are, from the modules that the
    node image pins. Raises `NotReady` where there is no Go that is new enough, or no module proxy
    answers.
    """
    store = Store(folders.cache / "benchmarks", processes, progress)
    compiler = Compiler(cache(lambda: find_go(processes, store, progress)))
    part = program_part(compiler, NAME, ".", *sorted(_SOURCES.iterdir()))
    if not store.has(part):
        with store.alone():
            _make(store, part)
    return store.path(part) / part.name


def _make(store: Store, part: Part) -> None:
    try:
        store.get(part)
    except NotReady as error:
        raise NotReady(
            "Kubernetes' own device manager could not be compiled, which ours is compared with",
            where=error.where,
            seen=f"{error.what}\n{error.seen}".strip(),
            remedy=error.remedy,
        ) from error
