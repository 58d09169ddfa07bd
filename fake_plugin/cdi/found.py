"""The CDI files of a folder and what they define, whoever wrote them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from fake_plugin.errors import needing
from fake_plugin.files.document import UNREADABLE, SafeLoader

#: An annotation of every spec of ours. It tells our files from others', which a name does not.
MARK: Final = "gpu-lab/written-by"
WRITER: Final = "fake-plugin"

_SUFFIXES: Final = frozenset({".json", ".yaml"})


@dataclass(frozen=True)
class Found:
    """What a file defines, as far as it can be read: the full names of devices."""

    path: Path
    names: frozenset[str]
    is_ours: bool


def read_specs(folder: Path) -> Iterator[Found]:
    """Return what each file of the folder defines; raises `NotReady` as `files_of` does."""
    return (_read(path) for path in files_of(folder) if path.suffix in _SUFFIXES)


def files_of(folder: Path) -> list[Path]:
    """Return the files of a folder, none where it is missing; raises `NotReady`."""
    remedy = "mount the folder into the container, and run as its owner"
    with needing(folder, "the folder of CDI specs cannot be read", remedy):
        try:
            return sorted(path for path in folder.iterdir() if path.is_file())
        except FileNotFoundError:
            return []


def _read(path: Path) -> Found:
    """Return what the file defines; nothing where it is no spec, which a runtime passes by too."""
    try:
        data = _parsed(path.read_bytes())
    except (OSError, *UNREADABLE):
        data = None
    spec = data if isinstance(data, dict) else {}
    notes = spec.get("annotations")
    return Found(
        path,
        frozenset(f"{spec.get('kind')}={name}" for name in _device_names(spec.get("devices"))),
        isinstance(notes, dict) and notes.get(MARK) == WRITER,
    )


def _device_names(devices: object) -> Iterator[str]:
    for device in devices if isinstance(devices, list) else ():
        name = device.get("name") if isinstance(device, dict) else None
        # In YAML, a name without quotes may be a number; runtimes take it for text.
        if isinstance(name, str | int):
            yield str(name)


def _parsed(content: bytes) -> object:
    # Runtimes take YAML under either suffix. What is JSON is read a hundred times as fast as such.
    try:
        return json.loads(content)
    except ValueError:
        return yaml.load(content, SafeLoader)  # noqa: S506 - it is safe
