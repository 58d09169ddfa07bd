"""What the lab knows of the objects in a cluster: small values, free of any client library."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Node:
    """A node: whether its kubelet is Ready, its labels, and its extended resources.

    `capacity` and `allocatable` hold whole numbers by resource name, extended resources only.
    """

    name: str
    ready: bool
    version: str
    labels: Mapping[str, str]
    taints: frozenset[tuple[str, str, str]]
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]


@dataclass(frozen=True)
class Pod:
    """A pod: where it runs, its phase, whether all containers are ready, its restarts.

    `requests` holds what the scheduler counts, extended resources only.
    """

    namespace: str
    name: str
    node: str
    phase: str
    ready: bool
    restarts: int
    images: tuple[str, ...]
    requests: Mapping[str, int]
    waiting: str
