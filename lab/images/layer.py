"""The layers of an image, written as tar files without a container engine.

All entries belong to root and carry one fixed time, so that the same content is the same layer
on every machine, whoever made it.
"""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """A layer's tar file, uncompressed, and the SHA-256 of it in hex."""

    tar: Path
    digest: str

    @classmethod
    def of(cls, tar: Path) -> "Layer":
        """Read a tar file to learn its digest."""
        with tar.open("rb") as file:
            return cls(tar, hashlib.file_digest(file, "sha256").hexdigest())


class LayerWriter:
    """Adds files, links and folders to a layer; parent folders come by themselves."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._folders: set[str] = {""}

    def text(self, name: str, text: str | bytes, mode: int = 0o644) -> None:
        """Add a file with this content."""
        raw = text.encode() if isinstance(text, str) else text
        entry = self._entry(name, tarfile.REGTYPE, mode)
        entry.size = len(raw)
        self._tar.addfile(entry, io.BytesIO(raw))

    def file(self, name: str, source: Path, mode: int = 0o644) -> None:
        """Add a copy of a file."""
        entry = self._entry(name, tarfile.REGTYPE, mode)
        entry.size = source.stat().st_size
        with source.open("rb") as content:
            self._tar.addfile(entry, content)

    def link(self, name: str, target: str) -> None:
        """Add a symbolic link."""
        entry = self._entry(name, tarfile.SYMTYPE, 0o777)
        entry.linkname = target
        self._tar.addfile(entry)

    def folder(self, name: str, mode: int = 0o755) -> None:
        """Add a folder, with those above it."""
        name = name.strip("/")
        if name in self._folders:
            return
        self._tar.addfile(self._entry(name, tarfile.DIRTYPE, mode))
        self._folders.add(name)

    def tree(self, name: str, source: Path) -> None:
        """Add what is in a folder, with the modes that it has there."""
        for each in sorted(source.rglob("*")):
            inside = f"{name}/{each.relative_to(source).as_posix()}"
            if each.is_symlink():
                self.link(inside, str(each.readlink()))
            elif each.is_dir():
                self.folder(inside, each.stat().st_mode & 0o7777)
            elif each.is_file():
                self.file(inside, each, each.stat().st_mode & 0o7777)

    def _entry(self, name: str, kind: bytes, mode: int) -> tarfile.TarInfo:
        name = name.strip("/")
        self.folder(name.rpartition("/")[0])
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode = kind, mode
        entry.uname = entry.gname = "root"
        return entry


@contextmanager
def new_layer(tar: Path) -> Iterator[LayerWriter]:
    """Write a layer to a file that is not there yet."""
    with tarfile.open(tar, "x:", format=tarfile.PAX_FORMAT) as file:
        yield LayerWriter(file)
