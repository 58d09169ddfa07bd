"""Builds the plugin image: Python, the wheels of a hash-pinned lock, and the package fake_plugin.

Put together without Docker where Debian packages are at hand: that is quicker than a build in
the engine, the same input is the same image, and nothing is left behind in its store. Elsewhere
the engine builds upon Python's own image, and what that leaves is removed.
"""

import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from lab.core.progress import Progress
from lab.host.folders import Folders
from lab.host.processes import Processes
from lab.images.archive import ImageContent, write_archive
from lab.images.debian import has_mmdebstrap, layer_in
from lab.images.layer import Layer, new_layer
from lab.images.plugin import engine_build
from lab.images.plugin.base import PYTHON, SITE, base_part
from lab.images.plugin.contents import compile_arguments, lay_out, plugin_files
from lab.images.plugin.wheels import wheels_part
from lab.images.store import Making, Part, Store, digest_of, is_made

REPOSITORY: Final = "localhost/gpu-lab/fake-plugin"
ENTRYPOINT: Final = ("python3", "-m", "fake_plugin")
#: No byte code is written, since the file system is read-only; a log line is never held back.
ENVIRONMENT: Final = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
_ARCHIVE: Final = "image.tar"
#: The modules that decide how the image without Docker looks.
_RECIPE: Final = ("image.py", "contents.py")
_TITLE: Final = "Put the plugin image together"
#: For people who look around in the container: everything else of Busybox is `busybox NAME`.
_APPLETS: Final = ("cat", "ls", "ps", "sh")


@dataclass(frozen=True)
class PluginImage:
    """The image as an archive for `ctr images import`: its name, the file, its bytes."""

    reference: str
    archive: Path
    size: int


def build_plugin_image(processes: Processes, folders: Folders, progress: Progress) -> PluginImage:
    """Build the plugin image, or find it built, which asks no other program.

    Raises `NotReady` where wheels or a base cannot be had, or the disk is full.
    """
    store = Store(_folder(folders), processes, progress)
    part = _debian_part() if has_mmdebstrap() else _engine_part()
    if not store.has(part):
        with store.alone():
            for need in part.needs:
                store.get(need)
            store.get(part)
    archive = store.path(part) / _ARCHIVE
    return PluginImage(_reference(part), archive, archive.stat().st_size)


def needs_registry(folders: Folders) -> bool:
    """Whether the image is not built, and can only be built from one of a registry."""
    return not has_mmdebstrap() and not is_made(_engine_part(), _folder(folders))


def _folder(folders: Folders) -> Path:
    return folders.cache / "plugin-image"


def _reference(part: Part) -> str:
    return f"{REPOSITORY}:{part.key[:12]}"


def _debian_part() -> Part:
    base, wheels, plugin = base_part(), wheels_part(), plugin_files()

    def make(making: Making) -> None:
        below = layer_in(making.path(base))
        content = ImageContent(
            references=(_reference(part),),
            layers=(below, _site_layer(making, below, wheels, plugin)),
            entrypoint=ENTRYPOINT,
            environment=ENVIRONMENT,
        )
        write_archive(making.folder / _ARCHIVE, [content])

    recipe = "".join((files("lab.images.plugin") / each).read_text() for each in _RECIPE)
    part = _part(recipe, plugin, make, (base, wheels))
    return part


def _engine_part() -> Part:
    wheels, plugin = wheels_part(), plugin_files()
    recipe = engine_build.dockerfile(json.dumps(ENTRYPOINT), ENVIRONMENT)

    def make(making: Making) -> None:
        engine_build.build(making, _reference(part), recipe, wheels, plugin)

    part = _part(recipe, plugin, make, (wheels,))
    return part


def _part(
    recipe: str, plugin: dict[str, bytes], make: Callable[[Making], None], needs: tuple[Part, ...]
) -> Part:
    names = tuple(plugin)
    inputs = (recipe, *names, digest_of(*plugin.values()))
    return Part("plugin-image", _TITLE, PYTHON, inputs, make, needs)


def _site_layer(making: Making, below: Layer, wheels: Part, plugin: dict[str, bytes]) -> Layer:
    root = making.scratch / "root"
    with tarfile.open(below.tar) as unpacked:
        unpacked.extractall(root, filter="tar")
    top = making.scratch / "top"
    (top / SITE).parent.mkdir(parents=True)
    lay_out(making, wheels, plugin, top / SITE)
    _compile(making, root, top)
    tar = making.scratch / "site.tar"
    with new_layer(tar) as layer:
        layer.tree("", top)
        layer.link("usr/bin/python3", f"python{PYTHON}")
        for each in _APPLETS:
            layer.link(f"bin/{each}", "busybox")
        layer.text("etc/passwd", "root:x:0:0:root:/:/bin/sh\n")
    return Layer.of(tar)


def _compile(making: Making, root: Path, top: Path) -> None:
    # The image's own Python, which alone writes its byte code, started by the image's own loader:
    # this takes no root, as chroot would.
    (loader,) = root.glob("lib/*-linux-gnu/ld-linux-*")
    libraries = f"{loader.parent}:{root / 'usr' / 'lib' / loader.parent.name}"
    python = root / "usr" / "bin" / f"python{PYTHON}"
    shown_as = ("-s", str(top), "-p", "/")
    arguments = compile_arguments(*shown_as, str(top / SITE))
    making.processes.run(
        (loader, "--library-path", libraries, python, *arguments),
        env={"PYTHONHOME": str(root / "usr")},
    )
