"""What a script does with a kubelet, and sees of it; both sides answer in the same shapes."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.pod import Container, Pod

#: Anything that JSON can say.
Seen: TypeAlias = object
#: Reason and message.
Rejected: TypeAlias = list[str]
#: By the UID of the pod.
Rejections: TypeAlias = dict[str, Rejected]
NUMA_NODES: Final = (0, 1)


class Crashed(Exception):
    """The kubelet has died of what it was asked."""


@dataclass(frozen=True)
class State:
    """Devices by resource, and by pod, container and resource; each list is sorted."""

    allocated: dict[str, list[str]] = field(default_factory=dict)
    held: dict[str, dict[str, dict[str, list[str]]]] = field(default_factory=dict)


class Kubelet(Protocol):
    """A kubelet that is killed and started again; every call may raise `Crashed`."""

    def start(self, pods: Collection[Pod], records: Collection[ContainerRecord]) -> Rejections:
        """Start, admit the pods again, and return why some were rejected, by UID."""

    def stop(self) -> None:
        """Kill it."""

    def admit(self, pod: Pod) -> Rejected | None:
        """Return why a pod is rejected, or None."""

    def remove(self, uid: str) -> None:
        """Let a pod be over."""

    def advance(self, seconds: int) -> None:
        """Let time pass for plugins that are gone."""

    def tick(self) -> Seen:
        """Update the status of the node, and return it."""

    def state(self, pods: Collection[Pod]) -> State:
        """Return what these pods hold, also those that are over."""

    def options(self, pod: Pod, container: Container) -> Seen:
        """Return what a container starts with, or the error."""

    def health(self, pod: Pod) -> Seen:
        """Return the health of devices in a pod's status."""

    def resources(self) -> Seen:
        """Return what the pod-resources API says."""

    def lists(self, resource: str) -> int:
        """Return how many lists of a resource were dealt with since the start."""

    def streams(self) -> int:
        """Return how many plugins are watched."""
