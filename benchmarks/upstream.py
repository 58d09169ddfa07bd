"""What our plugin is measured against, compiled for that only: both are upstream's code.

`sample` is Kubernetes' sample device plugin as it is: two devices, which never change. `stub` is
the library under it with a main of ours, for what the sample cannot do: more devices, and flaps.
Their modules are those that the node image pins.
"""

from functools import cache
from pathlib import Path
from typing import Final

from lab.core.errors import NotReady
from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.compiler import Compiler
from lab.images.node import versions
from lab.images.node.programs import SOURCES
from lab.images.store import Making, Part, Store
from lab.images.toolchain import find_go

SAMPLE: Final = "sample-device-plugin"
STUB: Final = "stub"
_PACKAGE: Final = f"k8s.io/kubernetes/test/images/{SAMPLE}"
_OWN: Final = Path(__file__).parent / "go" / STUB / "main.go"
_PINS: Final = ("go.mod", "go.sum")


def build(processes: Processes, folders: Folders, progress: Progress) -> tuple[Path, Path]:
    """Return the programs sample and stub, compiled now where they are not there.

    Raises `NotReady` where there is no Go that is new enough, or no module proxy answers.
    """
    if found := at_hand(processes, folders, progress):
        return found
    store, parts = _parts(processes, folders, progress)
    with store.alone():
        for part in parts:
            _make(store, part)
    sample, stub = (store.path(part) / part.name for part in parts)
    return sample, stub


def at_hand(processes: Processes, folders: Folders, progress: Progress) -> tuple[Path, Path] | None:
    """Return both programs where they were compiled before, and None where they were not."""
    store, parts = _parts(processes, folders, progress)
    if not all(map(store.has, parts)):
        return None
    sample, stub = (store.path(part) / part.name for part in parts)
    return sample, stub


def _parts(
    processes: Processes, folders: Folders, progress: Progress
) -> tuple[Store, tuple[Part, Part]]:
    store = Store(folders.cache / "benchmarks", processes, progress)
    compiler = Compiler(cache(lambda: find_go(processes, store, progress)))
    sample = program_part(compiler, SAMPLE, _PACKAGE)
    return store, (sample, program_part(compiler, STUB, ".", _OWN))


def program_part(compiler: Compiler, name: str, package: str, *sources: Path) -> Part:
    """Return the part that compiles a package against the modules of the node image."""
    texts = {each: (SOURCES / "kubernetes" / each).read_text() for each in _PINS}
    texts |= {source.name: source.read_text() for source in sources}
    command = ("build", "-v", "-trimpath", "-ldflags=-s -w", "-o")

    def make(making: Making) -> None:
        for file, text in texts.items():
            (making.scratch / file).write_text(text)
        compiler.run(making, *command, str(making.folder / name), package)

    return Part(
        name=name,
        title=f"Compile {name} of Kubernetes {versions.KUBERNETES}",
        version=versions.KUBERNETES,
        inputs=(*command, package, *texts.values()),
        make=make,
    )


def _make(store: Store, part: Part) -> None:
    try:
        store.get(part)
    except NotReady as error:
        raise NotReady(
            f"{part.name} could not be compiled, which our plugin is measured against",
            where=error.where,
            seen=f"{error.what}\n{error.seen}".strip(),
            remedy=f'{error.remedy}; or measure our plugin alone: make bench-plugin ARGS="--alone"',
        ) from error
