"""What the lab knows of the objects in a cluster: small values, free of any client library."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal


@dataclass(frozen=True)
class Node:
    """A node: whether its kubelet is Ready, its labels, and its extended resources.

    `heard` is when the kubelet last reported, None before the first time; `lost` says that the
    cluster does not expect more of it, after 40 seconds or so. `capacity` and `allocatable` hold
    whole numbers by resource name, extended resources only.
    """

    name: str
    ready: bool
    version: str
    labels: Mapping[str, str]
    taints: frozenset[tuple[str, str, str]]
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    heard: datetime | None
    lost: bool = False

    def heard_since(self, moment: datetime) -> bool:
        """Whether the kubelet has reported after a moment (to the second, as the API has it)."""
        return self.heard is not None and self.heard > moment


@dataclass(frozen=True)
class Container:
    """A container of a pod: whether it waits, runs or has terminated, and why.

    `reason` and `message` are those of its state; `exit_code` is None as long as it has none. `id`
    is the runtime's, "" before there is a container. `started` and `finished` are of its last run.
    `devices` are the IDs by resource: a kubelet from 1.36 on tells them, but of no init container.
    `unhealthy` are those of them that it calls so.
    """

    name: str
    state: Literal["waiting", "running", "terminated"] = "waiting"
    id: str = ""
    ready: bool = False
    restarts: int = 0
    reason: str = ""
    message: str = ""
    exit_code: int | None = None
    started: datetime | None = None
    finished: datetime | None = None
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unhealthy: frozenset[str] = frozenset()

    @property
    def waits_for(self) -> str:
        """Return why it waits, as `ErrImagePull: not found`; "" where it does not."""
        waits = self.state == "waiting"
        return ": ".join(filter(None, (self.reason, self.message))) if waits else ""


@dataclass(frozen=True)
class Condition:
    """A condition of a pod: whether it is so, why, and since when, to the second."""

    status: str
    reason: str
    message: str
    since: datetime | None


@dataclass(frozen=True)
class Pod:
    """A pod: where it runs, its phase, its containers, and what the scheduler has said last.

    `requests` holds what the scheduler counts, extended resources only, and `limits` what each
    container may have, init containers first. `unscheduled` is why it has no node, in the
    scheduler's words. `reason` and `message` are those of a pod that has failed. `terminating` says
    that it is being deleted. `conditions` are by their types.
    """

    namespace: str
    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    node: str
    phase: str
    reason: str
    message: str
    unscheduled: str
    terminating: bool
    created: datetime | None
    images: tuple[str, ...]
    requests: Mapping[str, int]
    limits: Mapping[str, Mapping[str, int]]
    conditions: Mapping[str, Condition]
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...]

    @property
    def naming(self) -> dict[str, Any]:
        """Return as much of its manifest as names it, which is enough to delete it."""
        meta = {"name": self.name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta}

    @property
    def ready(self) -> bool:
        """Whether all containers are."""
        return bool(self.containers) and all(each.ready for each in self.containers)

    @property
    def restarts(self) -> int:
        """Return how often containers were started again, all together."""
        return sum(each.restarts for each in self.containers)

    @property
    def waiting(self) -> str:
        """Return what containers wait for, "" where none does."""
        return "; ".join(each.waits_for for each in self.containers if each.waits_for)


@dataclass(frozen=True)
class Event:
    """What a component of the cluster has said of an object; `count` times, the last time `last`.

    `source` is the component, such as `default-scheduler` or `kubelet`. `first` is exact, where the
    component has named the event as client-go does; `last` is to the second if it came again.
    """

    about: str
    name: str
    uid: str
    type: str
    reason: str
    message: str
    source: str
    count: int
    first: datetime | None
    last: datetime | None
