"""What a trial asks of a cluster, and how it waits for what is to come there."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from lab.cluster.objects import Node, Pod

_LOOK_SECONDS: Final = 0.2


class Cluster(Protocol):
    """What is asked of the API server: see `lab.cluster.client.Client`."""

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""
        ...

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return the pods of a namespace that have a label."""
        ...

    def apply(self, manifest: Mapping[str, Any]) -> object:
        """Apply an object."""
        ...

    def create(self, manifest: Mapping[str, Any]) -> object:
        """Create an object."""
        ...

    def delete(self, manifest: Mapping[str, Any]) -> None:
        """Delete an object."""
        ...

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return what the pod has printed."""
        ...


def wait_until(holds: Callable[[], object], seconds: float) -> bool:
    """Wait until it holds, or time is up; tell which."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            return False
        time.sleep(_LOOK_SECONDS)
    return True
