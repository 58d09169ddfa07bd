"""The socket of a resource, taken away from under its plugin."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SocketRemoved:
    """The resource whose socket is gone."""

    removed: str
