"""This machine's architecture, as Go, Debian and image registries call it."""

import platform
from typing import Final

_NAMES: Final = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def architecture() -> str:
    """Return `amd64`, `arm64`, or elsewhere what Python calls the machine, in lower case."""
    machine = platform.machine().lower()
    return _NAMES.get(machine, machine)
