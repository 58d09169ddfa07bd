"""What a lab asks of its backend once a cluster stands: places for a fleet, and the image there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.cluster.access import NodeAccess
from lab.core.errors import UsageError
from lab.core.fleet import Fleet
from lab.core.progress import Progress


class NoPlace(UsageError):
    """A fleet does not fit on the nodes of a lab; nothing has changed."""


@dataclass(frozen=True)
class Image:
    """The plugin's image by its name; `pulled` by the nodes' runtimes, or put into them."""

    reference: str
    pulled: bool = False


class Backend(Protocol):
    """The cluster of one lab, as far as it is not Kubernetes."""

    @property
    def access(self) -> NodeAccess:
        """The way to its nodes."""
        ...

    def placed(self, fleet: Fleet) -> Fleet:
        """Return a fleet on nodes of the cluster; raises `NoPlace` where it does not fit."""
        ...

    def provide_image(self, nodes: Sequence[str], progress: Progress) -> Image:
        """See to it that these nodes can start the plugin's image, and return its name."""
        ...
