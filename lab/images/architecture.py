"""The architectures that images can be built for."""

from typing import Final

from lab.core.errors import NotReady
from lab.host.architecture import architecture

_BUILT: Final = ("amd64", "arm64")


def image_architecture() -> str:
    """Return `amd64` or `arm64`. Raises `NotReady` elsewhere."""
    name = architecture()
    if name not in _BUILT:
        raise NotReady(
            f"images can be built on {' and '.join(_BUILT)}, and this machine is {name}",
            remedy="use an image that someone else has built",
        )
    return name
