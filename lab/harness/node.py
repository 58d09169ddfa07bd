"""A node of a lab, and what a test does to it."""

from dataclasses import dataclass

from lab.core.errors import UsageError
from lab.core.fleet import FleetNode
from lab.harness.view import View
from lab.install.status import RunningLab


@dataclass(frozen=True)
class LabNode:
    """A node by the cluster's name, and what the fleet has put on it."""

    running: RunningLab
    view: View
    name: str
    members: tuple[FleetNode, ...]

    @property
    def title(self) -> str:
        """Return the fleet's names and the cluster's, as `nvidia-0 (gpu-lab-worker)`."""
        return f"{', '.join(each.name for each in self.members)} ({self.name})"

    @property
    def resource(self) -> str:
        """The one resource of the node; raises `UsageError` where it has several."""
        return only_resource(self.members, f"the node {self.name}")

    def restart_kubelet(self) -> None:
        """Restart its kubelet; containers run on. Raises `NotOffered` where there is no way to."""
        self.running.access.restart_kubelet(self.name)

    def restart(self) -> None:
        """Restart the node; its containers end. Raises `NotOffered` where there is no way to."""
        self.running.access.restart(self.name)


def only_resource(nodes: tuple[FleetNode, ...], whose: str) -> str:
    """Return the resource of these nodes; raises `UsageError` where there are several."""
    names = sorted({name for each in nodes for name in each.devices})
    if len(names) == 1:
        return names[0]
    raise UsageError(
        f"{whose} has several resources: say which is meant",
        seen=", ".join(names),
        remedy="give the name of the resource",
    )
