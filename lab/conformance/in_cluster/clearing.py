"""Takes out of a cluster what a trial has put there, and says what stays."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.cluster.objects import Pod
from lab.conformance.in_cluster.cluster import Cluster, wait_until
from lab.conformance.in_cluster.manifests import (
    NAME,
    NAMESPACE,
    PLUGIN_SELECTOR,
    USERS_NAMESPACE,
    USERS_SELECTOR,
    daemon_set_named,
)
from lab.core.errors import CleanUpFailed, LabError
from lab.host.processes import pasteable

_END_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Clearing:
    """What is ours in the cluster of a lab, by its labels: the plugin, and pods with devices."""

    cluster: Cluster
    lab: str
    kubeconfig: Path

    def plugins(self) -> list[Pod]:
        """Return the plugin's pods."""
        return list(self.cluster.pods(NAMESPACE, PLUGIN_SELECTOR))

    def users(self) -> list[Pod]:
        """Return the pods that have, or want, a device."""
        return list(self.cluster.pods(USERS_NAMESPACE, USERS_SELECTOR))

    def wait(self, holds: Callable[[], object]) -> bool:
        """Wait as long as an end may take."""
        return wait_until(holds, _END_SECONDS)

    def remove_users(self, pods: Sequence[Pod]) -> None:
        """Delete such pods, and wait until they are gone; raise `CleanUpFailed` where they stay."""
        for pod in pods:
            self.cluster.delete(pod.naming)
        removed = {each.uid for each in pods}
        self._see_go(lambda: [each for each in self.users() if each.uid in removed])

    def remove_all(self, then: Callable[[], None] = lambda: None) -> None:
        """Remove everything, then do the last; each is done whatever becomes of the others.

        Raises `CleanUpFailed` with all that stays.
        """
        left: list[LabError] = []
        with ExitStack() as stack:
            # What comes last is done first; an interruption lets the others be done as well.
            for act in (then, self._remove_plugin, lambda: self.remove_users(self.users())):
                stack.callback(_collect, act, left)
        if left:
            raise self._left_behind(left)

    def _remove_plugin(self) -> None:
        self.cluster.delete(daemon_set_named())
        self._see_go(self.plugins)

    def _see_go(self, pods: Callable[[], list[Pod]]) -> None:
        if not self.wait(lambda: not pods()):
            names = ", ".join(each.name for each in pods())
            raise CleanUpFailed(
                f"pods do not end within {_END_SECONDS:g} s: {names}", commands=self._commands()
            )

    def _left_behind(self, left: Sequence[LabError]) -> CleanUpFailed:
        own = [line for each in left if isinstance(each, CleanUpFailed) for line in each.commands]
        seen = dict.fromkeys(each.brief for each in left)
        return CleanUpFailed(
            "something of the trial is left in the cluster",
            where=f"the lab {self.lab}",
            seen="\n".join(seen),
            remedy="remove it when the cluster answers; the next trial in this lab does so as well",
            commands=tuple(dict.fromkeys((*self._commands(), *own))),
        )

    def _commands(self) -> tuple[str, ...]:
        kubectl = ("kubectl", "--kubeconfig", str(self.kubeconfig), "delete")
        return (
            pasteable(
                (*kubectl, "daemonset", NAME, "--namespace", NAMESPACE, "--ignore-not-found")
            ),
            pasteable(
                (*kubectl, "pods", "--selector", USERS_SELECTOR, "--namespace", USERS_NAMESPACE)
            ),
        )


def _collect(act: Callable[[], None], left: list[LabError]) -> None:
    try:
        act()
    except LabError as problem:
        left.append(problem)
