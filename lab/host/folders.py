"""Where the lab keeps its files: state that a running lab needs, and a cache it can lose.

Follows the XDG base directory specification; `GPULAB_STATE_HOME` and `GPULAB_CACHE_HOME` override.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.core.errors import NotReady


@dataclass(frozen=True)
class Folders:
    """`state` holds one folder per lab, `cache` what can be built or fetched again."""

    state: Path
    cache: Path

    @classmethod
    def of(cls, environment: Mapping[str, str] | None = None) -> "Folders":
        """Return the folders that the environment (default: this process's) asks for."""
        env = os.environ if environment is None else environment
        home = Path(env["HOME"]).absolute() if env.get("HOME") else Path.home()
        return cls(
            state=_folder(env, "GPULAB_STATE_HOME", "XDG_STATE_HOME", home / ".local/state"),
            cache=_folder(env, "GPULAB_CACHE_HOME", "XDG_CACHE_HOME", home / ".cache"),
        )


def unwritable(folder: Path, variable: str, error: OSError) -> NotReady:
    """Return the error for a folder of the lab; `variable` is what puts it elsewhere."""
    return NotReady(
        "the lab cannot write its own files",
        where=str(folder),
        seen=str(error),
        remedy=f"make room and the folder writable, or set {variable} to another one",
    )


def _folder(env: Mapping[str, str], own: str, xdg: str, default: Path) -> Path:
    if env.get(own):
        # Without `..` in it: what mounts the folder, and tells it by its path, would clean that.
        return Path(os.path.abspath(env[own]))  # noqa: PTH100 - `absolute` leaves `..` as it is
    base = Path(env.get(xdg, ""))
    # The specification says that a relative path is to be ignored.
    return (base if base.is_absolute() else default) / "gpu-lab"
