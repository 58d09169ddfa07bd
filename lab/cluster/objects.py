"""What the lab knows of the objects in a cluster: small values, free of any client library."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Node:
    """A node: whether its kubelet is Ready, its labels, and its extended resources.

    `heard` is when the kubelet last reported, None before the first time. `capacity` and
    `allocatable` hold whole numbers by resource name, extended resources only.
    """

    name: str
    ready: bool
    version: str
    labels: Mapping[str, str]
    taints: frozenset[tuple[str, str, str]]
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    heard: datetime | None

    def heard_since(self, moment: datetime) -> bool:
        """Whether the kubelet has reported after a moment (to the second, as the API has it)."""
        return self.heard is not None and self.heard > moment


@dataclass(frozen=True)
class Pod:
    """A pod: where it runs, its phase, whether all containers are ready, its restarts.

    `requests` holds what the scheduler counts, extended resources only.
    """

    namespace: str
    name: str
    annotations: Mapping[str, str]
    node: str
    phase: str
    ready: bool
    restarts: int
    images: tuple[str, ...]
    requests: Mapping[str, int]
    waiting: str
