"""What is done to a node from outside of Kubernetes, whatever the cluster is made of.

Each backend has its own way: a command in a container, a pod on the node, a method of a kubelet.
What it has no way to is not in `can`, and raises `NotOffered` when it is asked for all the same.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal, Protocol, get_args

from lab.core.errors import NotReady
from lab.host.processes import Finished

#: What a backend may be able to do: each is the method of that name.
Ability = Literal[
    "run",
    "restart_kubelet",
    "stop_kubelet",
    "start_kubelet",
    "lose_checkpoint",
    "restart",
    "kubelet_journal",
]
ABILITIES: Final[tuple[Ability, ...]] = get_args(Ability)
KUBELET_DIR: Final = "/var/lib/kubelet"
#: Fixed in the kubelet (Kubernetes, kubelet/pkg/apis/deviceplugin/v1beta1/constants.go).
DEVICE_PLUGIN_DIR: Final = f"{KUBELET_DIR}/device-plugins"
#: What the device manager has written down (Kubernetes, pkg/kubelet/cm/devicemanager/manager.go).
CHECKPOINT: Final = f"{DEVICE_PLUGIN_DIR}/kubelet_internal_checkpoint"
LOSE_CHECKPOINT: Final = ("rm", CHECKPOINT)
RESTART_KUBELET: Final = ("systemctl", "restart", "kubelet")
STOP_KUBELET: Final = ("systemctl", "stop", "kubelet")
START_KUBELET: Final = ("systemctl", "start", "kubelet")
IS_RUNNING: Final = ("systemctl", "is-active", "--quiet", "kubelet")
_DOES: Final[Mapping[Ability, str]] = {
    "run": "run a command on a node",
    "restart_kubelet": "restart a kubelet",
    "stop_kubelet": "stop a kubelet",
    "start_kubelet": "start a kubelet",
    "lose_checkpoint": "remove a kubelet's checkpoint",
    "restart": "restart a node",
    "kubelet_journal": "read a kubelet's journal",
}


class NotOffered(NotReady):
    """A backend has no way to do that to a node: `why`, and what to use `instead`."""

    def __init__(self, backend: str, ability: Ability, *, why: str, instead: str) -> None:
        super().__init__(
            f"the backend {backend!r} cannot {_DOES[ability]}", seen=why, remedy=instead
        )
        self.ability = ability


class NodeAccess(Protocol):
    """The way to the nodes of one cluster, each by its name in the cluster.

    A method that is not in `can` raises `NotOffered`. All of them raise a `LabError` where they
    are not done, and return when they are: a kubelet that was restarted runs, but need not have
    reported to the API server yet, see `lab.install.nodes`.
    """

    @property
    def can(self) -> frozenset[Ability]:
        """What it is able to do here."""
        ...

    def run(
        self, node: str, command: Sequence[str], *, check: bool = True, timeout: float | None = None
    ) -> Finished:
        """Run a command as root on a node, to its end.

        Raises `ProcessFailed` for an exit code other than 0, unless `check` is off, and `TimedOut`
        after `timeout` seconds.
        """
        ...

    def restart_kubelet(self, node: str) -> None:
        """Restart a kubelet; containers run on meanwhile."""
        ...

    def stop_kubelet(self, node: str) -> None:
        """Stop a kubelet, until `start_kubelet`; containers run on."""
        ...

    def start_kubelet(self, node: str) -> bool:
        """Start a kubelet; return whether it was stopped. Of one that runs nothing becomes."""
        ...

    def lose_checkpoint(self, node: str) -> None:
        """Remove what a kubelet, stopped by now, has written down of plugins, devices and pods."""
        ...

    def restart(self, node: str) -> None:
        """Restart a node: all of its containers end."""
        ...

    def kubelet_journal(self, node: str, since: datetime | None = None) -> str:
        """Return what a kubelet has said (from a moment on), a line each, with times in UTC."""
        ...

    def device_plugin_dir(self, node: str) -> str:
        """Return the folder of the plugins' sockets on a node."""
        ...


def journal_command(since: datetime | None) -> tuple[str, ...]:
    """Return what prints a kubelet's journal on a node with systemd."""
    command = ("journalctl", "--unit=kubelet", "--no-pager", "--utc", "--output=short-iso-precise")
    return (*command, f"--since=@{since.timestamp():.6f}") if since else command
