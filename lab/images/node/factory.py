"""Builds the node image: which parts, in which order, and how they become an image.

What blocks first runs first: Kubernetes takes longer than everything else together, and the Go
compiler uses all cores by itself, so the programs are compiled one after the other while the
Debian systems are unpacked beside them.
"""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Final

from lab.core import pins
from lab.core.errors import CheckFailed, NotReady
from lab.core.progress import Progress
from lab.host.docker import Docker, Engine
from lab.host.folders import Folders
from lab.host.processes import Processes, pasteable
from lab.host.side_by_side import side_by_side
from lab.images.archive import ImageContent, write_archive
from lab.images.compiler import Compiler
from lab.images.debian import layer_in, require_mmdebstrap
from lab.images.node import preloaded, programs, system, versions
from lab.images.node.adaptation import Adaptations
from lab.images.store import UNFINISHED, Part, Store, digest_of
from lab.images.toolchain import Go, find_go

#: For messages that offer a build.
ESTIMATED_TIME: Final = "about 25 minutes on 2 cores"
LABEL: Final = "gpu-lab.node-image"
#: The label with the manifest: what went into the image, with sizes and seconds.
MANIFEST_LABEL: Final = f"{LABEL}.manifest"
REPOSITORY: Final = "gpu-lab/node"
GIB: Final = 1 << 30
#: Free space that a first build needs, Go's own caches included, and that a last step needs.
_FIRST_BUILD: Final = 9 * GIB
_LAST_STEP: Final = 2 * GIB


@dataclass(frozen=True)
class NodeImage:
    """A node image in the engine: name, bytes, version of Kubernetes, and what went into it."""

    reference: str
    size: int
    kubernetes: str
    manifest: Path


@dataclass(frozen=True)
class Recipe:
    """All parts of an image for one kind of host; `adaptations` says which."""

    adaptations: Adaptations
    compiled: tuple[Part, ...]
    unpacked: tuple[Part, ...]
    layers: tuple[Part, ...]

    @classmethod
    def of(cls, adaptations: Adaptations, compiler: Compiler) -> "Recipe":
        """Lay out the parts. Runs nothing."""
        kubernetes = programs.kubernetes_part(compiler)
        containerd = programs.containerd_part(compiler)
        coredns = programs.coredns_part(compiler)
        crictl = programs.crictl_part(compiler)
        pause = programs.pause_part(compiler)
        root, tools = system.root_part(), preloaded.tools_part()
        images = preloaded.preloaded_part(kubernetes, containerd, coredns, pause, tools)
        files = system.system_part(compiler, adaptations, kubernetes, containerd, crictl)
        return cls(
            adaptations=adaptations,
            compiled=(kubernetes, containerd, coredns, crictl, pause),
            unpacked=(root, tools),
            layers=(root, images, files),
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts in an order in which each comes after what it needs."""
        return (*self.compiled, *self.unpacked, *self.layers[1:])

    @property
    def key(self) -> str:
        """What tells this image from every other: all its inputs."""
        return digest_of(*(each.key for each in self.layers))

    @property
    def reference(self) -> str:
        """The image's name in the engine."""
        return f"{REPOSITORY}:{versions.KUBERNETES}-{self.key[:12]}"


def node_image_reference(engine: Engine) -> str:
    """Return the name of the node image of this version for the host of this engine.

    Reads a few small files and runs nothing; whether the image is there is the engine's to say.
    """
    return _recipe(engine, _no_go).reference


def build_node_image(processes: Processes, folders: Folders, progress: Progress) -> NodeImage:
    """Build the node image, or find it built, and return it.

    Raises `NotReady` where the machine lacks something (Docker, room, mmdebstrap, a Go module
    proxy). What was made before an error stays for the next run. Waits for another build.
    """
    docker = Docker(processes)
    engine = docker.engine()
    store = Store(folders.cache / "node-image", processes, progress)
    with store.alone():
        return _build(docker, engine, store, progress, processes)


def _recipe(engine: Engine, go: Callable[[], Go]) -> Recipe:
    return Recipe.of(Adaptations.of(engine), Compiler(go))


def _no_go() -> Go:
    raise AssertionError("a name needs no compiler")


def _build(
    docker: Docker, engine: Engine, store: Store, progress: Progress, processes: Processes
) -> NodeImage:
    go = cache(lambda: find_go(processes, store, progress))
    recipe = _recipe(engine, go)
    for line in recipe.adaptations.notes():
        progress.note(line)
    with progress.step(f"Look for {recipe.reference}") as step:
        found = _find(docker, store, recipe)
        if found:
            step.cached()
            return found
    _check_room(engine, store, recipe)
    require_mmdebstrap()
    go()
    _make_parts(store, recipe, processes)
    with progress.step(f"Load {recipe.reference} into Docker"):
        _load(docker, store, recipe)
    found = _find(docker, store, recipe)
    if found is None:
        raise CheckFailed(
            "Docker took the node image and does not have it",
            where=f"docker image inspect {recipe.reference}",
            remedy="look whether something removes images, then run this again",
        )
    return found


def _find(docker: Docker, store: Store, recipe: Recipe) -> NodeImage | None:
    image = docker.image(recipe.reference)
    if image is None or image.labels.get(LABEL) != recipe.key:
        return None
    manifest = store.folder / f"{recipe.key[:12]}.json"
    with store.writing("what went into the node image could not be written down"):
        manifest.write_text(image.labels[MANIFEST_LABEL])
    return NodeImage(recipe.reference, image.size, versions.KUBERNETES, manifest)


def _make_parts(store: Store, recipe: Recipe, processes: Processes) -> None:
    def make(parts: tuple[Part, ...]) -> None:
        for part in parts:
            store.get(part)

    with side_by_side(processes) as start:
        lanes = [start(partial(make, parts)) for parts in (recipe.compiled, recipe.unpacked)]
        # An error in one is not to wait for the other.
        for lane in wait(lanes, return_when=FIRST_EXCEPTION).done:
            lane.result()
    make(recipe.layers[1:])


def _load(docker: Docker, store: Store, recipe: Recipe) -> None:
    """Hand the image to the engine. Raises `NotReady` as `Store.writing` does."""
    archive = store.folder / f"{UNFINISHED}{recipe.key[:12]}.tar"
    content = ImageContent(
        references=(recipe.reference,),
        layers=tuple(layer_in(store.path(part)) for part in recipe.layers),
        entrypoint=("/usr/local/bin/entrypoint", "/sbin/init"),
        # systemd asks this variable whether it is in a container, and ends on this signal only.
        environment={"container": "docker"},
        labels={
            LABEL: recipe.key,
            f"{LABEL}.kubernetes": versions.KUBERNETES,
            f"{LABEL}.adaptations": ",".join(recipe.adaptations.names),
            MANIFEST_LABEL: _manifest(store, recipe),
        },
        stop_signal="SIGRTMIN+3",
        created=datetime.now(UTC),
    )
    try:
        with store.writing("the node image could not be loaded"):
            write_archive(archive, [content])
            with archive.open("rb") as file:
                docker.run("load", "--quiet", stdin=file)
    finally:
        archive.unlink(missing_ok=True)


def _manifest(store: Store, recipe: Recipe) -> str:
    facts = {
        "kubernetes": versions.KUBERNETES,
        "etcd": versions.ETCD,
        "kind": pins.KIND,
        "adaptations": recipe.adaptations.names,
        "components": [asdict(store.record(part)) for part in recipe.parts],
    }
    return json.dumps(facts, indent=2) + "\n"


def _check_room(engine: Engine, store: Store, recipe: Recipe) -> None:
    missing = [part for part in recipe.compiled if not store.has(part)]
    needed = _FIRST_BUILD if missing else _LAST_STEP
    for folder in (store.folder, engine.data_root):
        # The engine's folder can lie in a virtual machine, where Docker itself must say it.
        if not folder.exists():
            continue
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise NotReady(
                "there is not enough room to build the node image",
                where=str(folder),
                seen=f"{free / GIB:.1f} GiB are free, {needed / GIB:.0f} GiB are needed",
                remedy="make room, or set GPULAB_CACHE_HOME to a folder on a larger disk",
                commands=(pasteable(("df", "-h", str(folder))),),
            )
