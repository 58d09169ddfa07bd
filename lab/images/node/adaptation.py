"""What the host lacks that a node usually finds, and how the image makes up for it.

Measured, never assumed: the result goes into the image's name, so that an image that was built
for one kind of host is not taken for another.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.host import capabilities
from lab.host.docker import Engine

_STATUS: Final = Path("/proc/self/status")


@dataclass(frozen=True)
class Adaptations:
    """`cgroup_v1`: Kubernetes 1.35 and later refuse such a host unless told not to.

    `no_sys_resource`: nothing in a container may lower an OOM score or raise a limit.
    """

    cgroup_v1: bool
    no_sys_resource: bool

    @classmethod
    def of(cls, engine: Engine, status: Path = _STATUS) -> "Adaptations":
        """Measure the host that the engine runs on."""
        return cls(
            cgroup_v1=engine.cgroup_version == 1,
            no_sys_resource=_lacks(capabilities.SYS_RESOURCE, status),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The adaptations that are on, as the image's label has them."""
        named = {"cgroup-v1": self.cgroup_v1, "no-sys-resource": self.no_sys_resource}
        return tuple(name for name, is_on in named.items() if is_on)

    def notes(self) -> tuple[str, ...]:
        """Say in a line each what was measured and what follows."""
        lines = []
        if self.cgroup_v1:
            lines.append("this host has cgroup v1: the image tells kubelet to accept it")
        if self.no_sys_resource:
            lines.append(
                "this host has no CAP_SYS_RESOURCE: the image's containerd leaves OOM scores and "
                "limits as they are"
            )
        return tuple(lines)


def _lacks(capability: int, status: Path) -> bool:
    # Without /proc the engine runs in a virtual machine of its own (macOS), as full root.
    text = status.read_text() if status.exists() else ""
    return capabilities.within_reach(capability, text) is False
