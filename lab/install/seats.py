"""The plugins of a lab's nodes: all, or those that are named, asked side by side."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final

from lab.cluster.objects import Pod
from lab.cluster.plugin_api import PluginApi, PluginRefused
from lab.core.errors import CheckFailed, LabError, UsageError
from lab.install.deployment import CONTROL_PORT
from lab.install.rollout import NAMESPACE, SELECTOR
from lab.install.status import RunningLab

#: The plugins of that many nodes are asked at once.
_AT_ONCE: Final = 8
_SHOWN: Final = 12

Json = dict[str, Any]
Asking = Callable[[PluginApi], Json]


@dataclass(frozen=True)
class Seat:
    """A node of the cluster: what the fleet calls it, and its plugin's pod, if there is one."""

    node: str
    members: tuple[str, ...]
    pod: Pod | None

    @property
    def title(self) -> str:
        """Return both names, as `nvidia-0 (gpu-lab-worker)`."""
        return f"{', '.join(self.members)} ({self.node})"


@dataclass(frozen=True)
class Outcome:
    """What came of asking one node: a result or an error.

    `skipped` says that the node has nothing of what was named, and others have.
    """

    seat: Seat
    result: Json | None = None
    error: LabError | None = None
    skipped: bool = False

    def as_json(self) -> Json:
        """Return the contract for tools."""
        found: Json = {"node": self.seat.node, "members": list(self.seat.members)}
        if self.error is None:
            return {**found, "ok": True, "result": self.result}
        error = self.error
        said = {"what": error.what, "where": error.where, "seen": error.seen}
        return {
            **found,
            "ok": False,
            "skipped": self.skipped,
            "error": {**said, "remedy": error.remedy},
        }


def seats(lab: RunningLab, names: Sequence[str] = ()) -> tuple[Seat, ...]:
    """Return the nodes of these names, the fleet's or the cluster's; without any, all of the fleet.

    Raises `UsageError` for a name that is neither, `CheckFailed` for a lab without a fleet.
    """
    fleet = lab.folder.placed_fleet()
    if fleet is None:
        raise CheckFailed(
            "no fleet was deployed to the lab yet",
            where=str(lab.folder.path),
            remedy="bring it up",
            commands=(f"gpulab up --name {lab.record.name}",),
        )
    members: dict[str, list[str]] = {}
    for each in fleet.nodes():
        members.setdefault(str(each.node_name), []).append(each.name)
    wanted = [_node_of(name, members) for name in names] or list(members)
    pods = lab.client.pods(NAMESPACE, SELECTOR)
    return tuple(
        Seat(node, tuple(members[node]), _pod_on(node, pods)) for node in dict.fromkeys(wanted)
    )


def ask(lab: RunningLab, nodes: Sequence[Seat], asking: Asking, *, named: bool) -> list[Outcome]:
    """Ask the plugins of nodes, and return what each of them said, whatever the others did.

    `named` says that the user chose these nodes. Else one that has nothing of what is asked about
    is skipped, unless that holds for all of them.
    """
    token = lab.folder.known_token()

    def outcome(seat: Seat) -> Outcome:
        try:
            return Outcome(seat, asking(_api(lab, seat, token)))
        except LabError as error:
            return Outcome(seat, error=error)

    with ThreadPoolExecutor(_AT_ONCE) as askers:
        outcomes = list(askers.map(outcome, nodes))
    if named or all(_knows_nothing(each) for each in outcomes):
        return outcomes
    return [replace(each, skipped=_knows_nothing(each)) for each in outcomes]


def require_done(outcomes: Iterable[Outcome]) -> None:
    """Raise what the nodes that failed all say, or an error that tells what each of them says."""
    outcomes = list(outcomes)
    failed = [each for each in outcomes if each.error and not each.skipped]
    if not failed:
        return
    errors = [each.error for each in failed if each.error]
    usage = all(isinstance(error, UsageError) for error in errors)
    kind = UsageError if usage else CheckFailed
    first = errors[0]
    if all(error.what == first.what for error in errors):
        where = ", ".join(each.seat.title for each in failed[:_SHOWN])
        seen = "\n".join(filter(None, (first.where, first.seen)))
        raise kind(
            first.what, where=where, seen=seen, remedy=first.remedy, commands=first.commands
        ) from first
    raise kind(
        f"{len(failed)} nodes did not do it",
        seen="\n".join(f"{each.seat.title}: {each.error.what}" for each in failed if each.error),
        remedy="see what is said of each; it is done on the others"
        if any(each.error is None for each in outcomes)
        else "see what is said of each",
    )


def _knows_nothing(outcome: Outcome) -> bool:
    return isinstance(outcome.error, PluginRefused) and outcome.error.missing


def _api(lab: RunningLab, seat: Seat, token: str) -> PluginApi:
    up = f"gpulab up --name {lab.record.name}"
    if not token:
        raise CheckFailed(
            "the lab has no token for its plugins",
            where=str(lab.folder.token),
            remedy="bring the lab up to date: that makes one, and gives it to the plugins",
            commands=(up,),
        )
    if seat.pod is None:
        raise CheckFailed(
            "no device plugin runs on the node",
            where=seat.title,
            remedy="bring the lab up to date",
            commands=(up,),
        )
    return PluginApi(lab.client, seat.pod, CONTROL_PORT, token, lab.record.name)


def _node_of(name: str, members: dict[str, list[str]]) -> str:
    for node, names in members.items():
        if name == node or name in names:
            return node
    known = [each for node, names in members.items() for each in (*names, node)]
    raise UsageError(
        f"the fleet has no node {name!r}",
        seen=f"nodes that it has: {', '.join(known[:_SHOWN])}",
        remedy="name one of these, or none for all",
    )


def _pod_on(node: str, pods: Iterable[Pod]) -> Pod | None:
    """Return the plugin's pod of a node: the one that runs, where an old one is still there."""
    here = sorted((pod for pod in pods if pod.node == node), key=lambda pod: not pod.ready)
    return here[0] if here else None
