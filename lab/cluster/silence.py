"""Nodes that say nothing to what is asked of them through the API server, which does answer.

One that is paused, or that hangs, takes a connection and never answers. Whoever gathers what there
is of it asks many things, and each would be waited for: the first has time, and the next ones have
little of it until the node answers one.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from lab.cluster import reading
from lab.cluster.connection import ApiFailed, Connection, ServerSilent
from lab.cluster.objects import Pod

#: More than the ten that the API server gives a kubelet to take a call, whose error says more. A
#: busy machine takes some of it.
SECONDS: Final = 15.0
#: Of a node that has not answered what was asked before.
AGAIN_SECONDS: Final = 2.0


class NodeSilent(ApiFailed):
    """Something on a node says nothing, for `lasting` seconds in all, whatever it was asked."""

    def __init__(  # noqa: PLR0913 - what every error has, and the time
        self,
        what: str,
        *,
        where: str,
        seen: str,
        remedy: str,
        commands: tuple[str, ...],
        lasting: float,
    ) -> None:
        super().__init__(what, where=where, seen=seen, remedy=remedy, commands=commands)
        self.lasting = lasting


@dataclass(frozen=True)
class Silences:
    """Since when nodes have not answered, by their names, in monotonic seconds."""

    connection: Connection
    _since: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def asking(self, who: str, pod: Pod) -> Iterator[float]:
        """Ask something of a pod's node inside the block, within these seconds.

        Raises `NodeSilent` where it is `who` that does not answer, and `ApiFailed` where it is the
        API server, or where the block raises it.
        """
        begun = time.monotonic()
        try:
            yield AGAIN_SECONDS if pod.node in self._since else SECONDS
        except ServerSilent as silent:
            state = self._state(pod.node)
            lasting = time.monotonic() - self._since.setdefault(pod.node, begun)
            # Whoever reads where it comes from is not to be told of the API server.
            raise self._error(who, pod, state, lasting) from silent.__cause__
        except ApiFailed:
            self._since.pop(pod.node, None)
            raise
        self._since.pop(pod.node, None)

    def _state(self, name: str) -> str:
        """Return what the API server says of a node; raises its error where it says nothing."""
        found = self.connection.send("GET", f"/api/v1/nodes/{name}", seconds=SECONDS)
        node = reading.node(found)
        heard = f"reported last at {node.heard:%H:%M:%S} UTC" if node.heard else "never reported"
        return f"{'Ready' if node.ready else 'NotReady'}, its kubelet {heard}"

    def _error(self, who: str, pod: Pod, state: str, lasting: float) -> NodeSilent:
        remedy, commands = self.connection.advice.of_silent_node(pod.node)
        return NodeSilent(
            f"{who} of node {pod.node} does not answer",
            where=f"pod {pod.name} ({pod.phase})",
            seen=f"nothing for {lasting:.0f} s; the API server answers, and has the node {state}",
            remedy=remedy,
            commands=commands,
            lasting=lasting,
        )
