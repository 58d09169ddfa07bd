"""The plugins of a lab's nodes: all, or those that are named, asked side by side."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeAlias, TypeGuard, TypeVar

from pydantic import JsonValue

from lab.cluster.objects import Pod
from lab.cluster.plugin.api import PluginApi, PluginRefused, written
from lab.cluster.plugin.node_plugin import NodePlugin
from lab.core.errors import CheckFailed, LabError, UsageError
from lab.core.fleet import Fleet
from lab.install.deployment import CONTROL_PORT
from lab.install.rollout import NAMESPACE, SELECTOR
from lab.install.status import RunningLab

#: The plugins of that many nodes are asked at once.
_AT_ONCE: Final = 8
_SHOWN: Final = 12

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Seat:
    """A node of the cluster that has a plugin, and what the fleet calls it."""

    node: str
    members: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return both names, as `nvidia-0 (gpu-lab-worker)`."""
        return f"{', '.join(self.members)} ({self.node})"


@dataclass(frozen=True)
class Done(Generic[Answer]):
    """What the plugin of a node has answered."""

    seat: Seat
    answer: Answer

    def as_json(self) -> dict[str, JsonValue]:
        """Return the contract for tools."""
        return {**_names(self.seat), "ok": True, "result": written(self.answer)}


@dataclass(frozen=True)
class Undone:
    """Why a node has not done what was asked.

    `skipped` says that it has nothing of what was named, and others have.
    """

    seat: Seat
    error: LabError
    skipped: bool = False

    def as_json(self) -> dict[str, JsonValue]:
        """Return the contract for tools."""
        error = self.error
        said: dict[str, JsonValue] = {
            "what": error.what,
            "where": error.where,
            "seen": error.seen,
            "remedy": error.remedy,
        }
        return {**_names(self.seat), "ok": False, "skipped": self.skipped, "error": said}


Outcome: TypeAlias = Done[Answer] | Undone


def _names(seat: Seat) -> dict[str, JsonValue]:
    return {"node": seat.node, "members": [*seat.members]}


def seats(lab: RunningLab, names: Sequence[str] = ()) -> tuple[Seat, ...]:
    """Return the nodes of these names, the fleet's or the cluster's; without any, all of the fleet.

    Raises `UsageError` for a name that is neither, `CheckFailed` for a lab without a fleet.
    """
    fleet = lab.deployed_fleet()
    nodes = fleet.by_node()
    wanted = [_node_of(name, fleet) for name in names] or nodes
    return tuple(
        Seat(node, tuple(each.name for each in nodes[node])) for node in dict.fromkeys(wanted)
    )


def node_plugin(lab: RunningLab, seat: Seat, pods: Sequence[Pod] | None = None) -> NodePlugin:
    """Return the plugin of a node; its pod is one of `pods`, or looked for at each call.

    Raises `CheckFailed` for a lab that has no token for its plugins, and so does every call of it
    where no plugin runs on the node.
    """

    def find_pod() -> Pod:
        found = lab.client.pods(NAMESPACE, SELECTOR) if pods is None else pods
        here = [pod for pod in found if pod.node == seat.node]
        if not here:
            raise CheckFailed(
                "no device plugin runs on the node",
                where=seat.title,
                remedy="bring the lab up to date",
                commands=(f"gpulab up --name {lab.record.name}",),
            )
        # Where an old one is still there, the one that runs.
        return min(here, key=lambda pod: (not pod.ready, pod.terminating))

    api = PluginApi(lab.client, find_pod, CONTROL_PORT, _token(lab), lab.record.name)
    return NodePlugin(api)


def ask(
    lab: RunningLab, nodes: Sequence[Seat], asking: Callable[[NodePlugin], Answer], *, named: bool
) -> list[Outcome[Answer]]:
    """Ask the plugins of nodes, and return what each of them said, whatever the others did.

    `named` says that the user chose these nodes. Else one that has nothing of what is asked about
    is skipped, unless that holds for all of them.
    """
    pods = lab.client.pods(NAMESPACE, SELECTOR)

    def outcome(seat: Seat) -> Outcome[Answer]:
        try:
            return Done(seat, asking(node_plugin(lab, seat, pods)))
        except LabError as error:
            return Undone(seat, error)

    with ThreadPoolExecutor(_AT_ONCE) as askers:
        outcomes = list(askers.map(outcome, nodes))
    if named or all(map(_knows_nothing, outcomes)):
        return outcomes
    return [replace(each, skipped=True) if _knows_nothing(each) else each for each in outcomes]


def require_done(outcomes: Iterable[Outcome[Answer]]) -> None:
    """Raise what the nodes that failed all say, or an error that tells what each of them says."""
    outcomes = list(outcomes)
    failed = [each for each in outcomes if isinstance(each, Undone) and not each.skipped]
    if not failed:
        return
    usage = all(isinstance(each.error, UsageError) for each in failed)
    kind = UsageError if usage else CheckFailed
    first = failed[0].error
    if all(each.error.what == first.what for each in failed):
        where = ", ".join(each.seat.title for each in failed[:_SHOWN])
        seen = "\n".join(filter(None, (first.where, first.seen)))
        raise kind(
            first.what, where=where, seen=seen, remedy=first.remedy, commands=first.commands
        ) from first
    done = "; it is done on the others" if any(isinstance(each, Done) for each in outcomes) else ""
    raise kind(
        f"{len(failed)} nodes did not do it",
        seen="\n".join(f"{each.seat.title}: {each.error.what}" for each in failed),
        remedy=f"see what is said of each{done}",
    )


def _knows_nothing(outcome: Outcome[Answer]) -> TypeGuard[Undone]:
    if isinstance(outcome, Done):
        return False
    return isinstance(outcome.error, PluginRefused) and outcome.error.missing


def _token(lab: RunningLab) -> str:
    token = lab.folder.known_token()
    if not token:
        raise CheckFailed(
            "the lab has no token for its plugins",
            where=str(lab.folder.token),
            remedy="bring the lab up to date: that makes one, and gives it to the plugins",
            commands=(f"gpulab up --name {lab.record.name}",),
        )
    return token


def _node_of(name: str, fleet: Fleet) -> str:
    if found := fleet.node_named(name):
        return found
    raise UsageError(
        f"the fleet has no node {name!r}",
        seen=f"nodes that it has: {', '.join(fleet.names()[:_SHOWN])}",
        remedy="name one of these, or none for all",
    )
