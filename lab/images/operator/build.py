"""Builds NVIDIA's operator, or finds it built."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.compiler import Compiler
from lab.images.debian import require_mmdebstrap
from lab.images.operator import sources
from lab.images.operator.chart import ChartImage, images_of
from lab.images.operator.image import ARCHIVE, images_part, shell_part
from lab.images.operator.programs import helm_part, operator_part
from lab.images.operator.sources import sources_part
from lab.images.operator.versions import RELEASE
from lab.images.store import Part, Store
from lab.images.toolchain import Go, find_go

#: For messages that offer a build.
ESTIMATED_TIME: Final = "about 12 minutes on 2 cores"


@dataclass(frozen=True)
class OperatorBuild:
    """What was built: helm and the chart to install with it, and the operator's own images.

    `images` are all that the chart can ask for; `archive`, for `ctr images import`, has those of
    the components `operator` and `validator`.
    """

    release: str
    helm: Path
    chart: Path
    archive: Path
    images: tuple[ChartImage, ...]


@dataclass(frozen=True)
class Recipe:
    """All parts of a build."""

    programs: Part
    helm: Part
    files: Part
    shell: Part
    images: Part

    @classmethod
    def of(cls, compiler: Compiler) -> "Recipe":
        """Lay out the parts. Runs nothing."""
        programs, files, shell = operator_part(compiler), sources_part(compiler), shell_part()
        images = images_part(programs, files, shell)
        return cls(programs, helm_part(compiler), files, shell, images)

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, each after what it needs; first what fails soonest."""
        return (self.files, self.shell, self.programs, self.images, self.helm)


def build_operator(processes: Processes, folders: Folders, progress: Progress) -> OperatorBuild:
    """Build the operator, or find it built, which asks no other program.

    Raises `NotReady` where the machine lacks something (mmdebstrap, a Go module proxy, room). What
    was made before an error stays for the next run. Waits for another build.
    """
    store = Store(folders.cache / "operator", processes, progress)
    recipe = Recipe.of(Compiler(_go(processes, store, progress)))
    if not all(map(store.has, recipe.parts)):
        require_mmdebstrap()
        with store.alone():
            for part in recipe.parts:
                store.get(part)
    chart = store.path(recipe.files) / sources.CHART
    return OperatorBuild(
        release=RELEASE,
        helm=store.path(recipe.helm) / "helm",
        chart=chart,
        archive=store.path(recipe.images) / ARCHIVE,
        images=images_of(chart),
    )


def _go(processes: Processes, store: Store, progress: Progress) -> Callable[[], Go]:
    return cache(lambda: find_go(processes, store, progress))
