"""This machine's architecture, as Go, Debian and image registries call it."""

import platform
from typing import Final

from lab.core.errors import NotReady

_NAMES: Final = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def architecture() -> str:
    """Return `amd64` or `arm64`. Raises `NotReady` elsewhere."""
    machine = platform.machine().lower()
    if machine not in _NAMES:
        raise NotReady(
            f"images can be built on amd64 and arm64, and this machine is {machine}",
            remedy="use an image that someone else has built",
        )
    return _NAMES[machine]
