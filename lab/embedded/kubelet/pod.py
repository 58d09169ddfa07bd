"""As much of a pod as its admission to a node looks at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """When a container runs."""

    APP = "app"
    #: Before the others, to its end.
    INIT = "init"
    #: An init container that is restarted, and so runs beside the others.
    SIDECAR = "sidecar"


@dataclass(frozen=True)
class Container:
    """A container and its limits: whole numbers by resource. Requests are not looked at."""

    name: str
    limits: Mapping[str, int]
    kind: Kind = Kind.APP


@dataclass(frozen=True)
class Pod:
    """A pod that is bound to the node; init containers come first, in their order."""

    uid: str
    name: str
    containers: tuple[Container, ...]
    namespace: str = "default"

    def request(self) -> dict[str, int]:
        """Return what the pod as a whole needs of each resource.

        What its containers need at once, or what an init container needs beside the sidecars that
        started before it, whichever is more (component-helpers, resource.PodRequests).
        """
        resources = {name for each in self.containers for name in each.limits}
        return {name: self._request_of(name) for name in resources}

    def _request_of(self, resource: str) -> int:
        sidecars = most = 0
        for each in self.of_kinds(Kind.INIT, Kind.SIDECAR):
            wanted = each.limits.get(resource, 0)
            if each.kind is Kind.SIDECAR:
                sidecars += wanted
            most = max(most, sidecars if each.kind is Kind.SIDECAR else sidecars + wanted)
        apps = sum(each.limits.get(resource, 0) for each in self.of_kinds(Kind.APP))
        return max(most, sidecars + apps)

    def of_kinds(self, *kinds: Kind) -> tuple[Container, ...]:
        """Return the containers of these kinds, in their order."""
        return tuple(each for each in self.containers if each.kind in kinds)


def total_request(pods: Iterable[Pod], resource: str) -> int:
    """Return what all the pods together need of a resource."""
    return sum(pod.request().get(resource, 0) for pod in pods)
