"""Image archives, as `docker load` and `ctr images import` read them.

Written by hand and not with `docker build`, because here no image is there to build from: all
layers are tar files that other programs have made. This way nothing is left in the engine's
store, no container runs, and several images in one archive share their layers.
"""

import hashlib
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lab.images.architecture import image_architecture
from lab.images.layer import Layer

_PATH: Final = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: By default the same content is the same image, whenever it was made.
_ALWAYS: Final = datetime.fromtimestamp(0, UTC)
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True)
class ImageContent:
    """An image: its names (`repository:tag`), its layers from the bottom up, how it starts."""

    references: tuple[str, ...]
    layers: tuple[Layer, ...]
    entrypoint: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    labels: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    stop_signal: str = ""
    created: datetime = _ALWAYS

    def config(self) -> bytes:
        """Return the image's configuration in the format of the OCI image specification."""
        variables = [_PATH, *(f"{name}={value}" for name, value in self.environment.items())]
        start: dict[str, object] = {"Env": variables, "Labels": dict(self.labels)}
        if self.entrypoint:
            start["Entrypoint"] = list(self.entrypoint)
        if self.stop_signal:
            start["StopSignal"] = self.stop_signal
        digests = [f"sha256:{each.digest}" for each in self.layers]
        facts = {
            "architecture": image_architecture(),
            "os": "linux",
            "created": self.created.isoformat(),
            "config": start,
            "rootfs": {
                "type": "layers",
                "diff_ids": digests,
            },
            "history": [{"created_by": "gpu-lab"} for _ in self.layers],
        }
        return json.dumps(facts, sort_keys=True).encode()


def write_archive(target: Path, images: Iterable[ImageContent]) -> None:
    """Write images to one archive, each layer once. Raises `OSError` where it cannot."""
    manifest = []
    with tarfile.open(target, "x:") as archive:
        written: set[str] = set()
        for image in images:
            for layer in image.layers:
                if layer.digest not in written:
                    written.add(layer.digest)
                    _add_file(archive, _name(layer), layer.tar)
            config = image.config()
            name = f"{hashlib.sha256(config).hexdigest()}.json"
            if name not in written:
                written.add(name)
                _add(archive, name, config)
            manifest.append(
                {
                    "Config": name,
                    "RepoTags": list(image.references),
                    "Layers": [_name(each) for each in image.layers],
                }
            )
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _name(layer: Layer) -> str:
    return f"{layer.digest}/layer.tar"


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, BytesIO(content))


def _add_file(archive: tarfile.TarFile, name: str, source: Path) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = source.stat().st_size
    with source.open("rb") as content:
        archive.addfile(entry, content)
