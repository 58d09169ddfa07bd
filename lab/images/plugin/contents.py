"""What the plugin image holds beside Python: the unpacked wheels and the package fake_plugin."""

import shutil
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from lab.images.plugin.wheels import SITE_FOLDER
from lab.images.store import Making, Part

PACKAGE: Final = "fake_plugin"


def plugin_files() -> dict[str, bytes]:
    """Return the files of fake_plugin, as they are installed here, by their path."""
    found: dict[str, bytes] = {}

    def collect(folder: Traversable, name: str) -> None:
        for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
            if each.is_dir() and each.name != "__pycache__":
                collect(each, f"{name}/{each.name}")
            elif each.is_file():
                found[f"{name}/{each.name}"] = each.read_bytes()

    collect(files(PACKAGE), PACKAGE)
    return found


def lay_out(making: Making, wheels: Part, plugin: dict[str, bytes], site: Path) -> None:
    """Copy the wheels and the plugin into a new folder `site`."""
    shutil.copytree(making.path(wheels) / SITE_FOLDER, site)
    for name, content in plugin.items():
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def compile_arguments(*folders: str) -> Sequence[str]:
    """Return the arguments with which a Python compiles folders for a read-only image.

    Its byte code is taken as it is: nobody can have changed the source since.
    """
    return ("-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", *folders)
