"""The images of the operator and of its validator, as their recipes in the module lay them out."""

from pathlib import Path
from typing import Final

from lab.images.archive import ImageContent, write_archive
from lab.images.debian import Packages, debian_part, layer_in
from lab.images.layer import Layer, LayerWriter, new_layer
from lab.images.operator import sources
from lab.images.operator.chart import images_of
from lab.images.operator.programs import OPERATOR, VALIDATOR
from lab.images.operator.versions import RELEASE
from lab.images.store import Making, Part

ARCHIVE: Final = "images.tar"
_FILES: Final = "opt/gpu-operator"
_MANIFESTS: Final = "var/nvidia/manifests"
#: What the pods of the validator call, beside a shell.
_APPLETS: Final = ("cat", "chroot", "echo", "ls", "rm", "sh", "sleep")


def shell_part() -> Part:
    """Return the part with a shell, and nothing else."""
    packages = Packages("extract", ("busybox-static",))
    return debian_part("operator-base", "Unpack a shell for the operator's images", packages)


def images_part(programs: Part, files: Part, shell: Part) -> Part:
    """Return the part whose product holds both images as one archive."""

    def make(making: Making) -> None:
        named = {each.component: each.reference for each in images_of(_chart(making, files))}
        below = layer_in(making.path(shell))
        operator = _operator_layer(making, programs, files)
        validator = _validator_layer(making, programs, files)
        write_archive(
            making.folder / ARCHIVE,
            [
                ImageContent((named["operator"],), (below, operator), (f"/usr/bin/{OPERATOR}",)),
                ImageContent((named["validator"],), (below, validator), ("/bin/sh",)),
            ],
        )

    return Part(
        name="gpu-operator-images",
        title="Put the operator's images together",
        version=RELEASE,
        inputs=(_FILES, _MANIFESTS, *_APPLETS),
        make=make,
        needs=(programs, files, shell),
    )


def _chart(making: Making, files: Part) -> Path:
    return making.path(files) / sources.CHART


def _operator_layer(making: Making, programs: Part, files: Part) -> Layer:
    tar = making.scratch / "operator.tar"
    with new_layer(tar) as layer:
        layer.file(f"usr/bin/{OPERATOR}", making.path(programs) / OPERATOR, 0o755)
        layer.tree(_FILES, making.path(files) / sources.OPERATOR_FILES)
        _add_surroundings(layer)
    return Layer.of(tar)


def _validator_layer(making: Making, programs: Part, files: Part) -> Layer:
    tar = making.scratch / "validator.tar"
    with new_layer(tar) as layer:
        layer.file("usr/bin/nvidia-validator", making.path(programs) / VALIDATOR, 0o755)
        layer.tree(_MANIFESTS, making.path(files) / sources.VALIDATOR_FILES)
        _add_surroundings(layer)
    return Layer.of(tar)


def _add_surroundings(layer: LayerWriter) -> None:
    for each in _APPLETS:
        layer.link(f"bin/{each}", "busybox")
    layer.folder("tmp", 0o1777)
    layer.text("etc/passwd", "root:x:0:0:root:/:/bin/sh\ngpu-operator:x:1000:1000::/:/bin/sh\n")
