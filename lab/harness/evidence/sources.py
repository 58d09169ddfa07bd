"""What is gathered of a lab, file by file."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from pydantic import JsonValue

from lab.cluster.objects import Pod
from lab.cluster.plugin.api import written
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from lab.harness.timeline import timeline_of

#: The files with how pods have come to their devices begin so.
TIMELINES: Final = "timelines/"
_LOG_LINES: Final = 2000
#: Who prints without an end of a line has this much of it.
_LOG_BYTES: Final = 1024**2
#: Container runtimes write a longer line in pieces, which the API server counts as lines.
_CHUNK_BYTES: Final = 16 * 1024


@dataclass(frozen=True)
class Source:
    """A file of the evidence, by its path in the folder, and where its text or JSON comes from."""

    file: str
    read: Callable[[], JsonValue]


def sources(lab: Lab, since: datetime) -> Iterator[Source]:
    """Yield everything that is known of a lab, and of what happened there since a moment."""
    yield Source("pods.json", partial(_objects, lab, f"{_inside(lab)}/pods"))
    yield Source("events.json", partial(_objects, lab, f"{_inside(lab)}/events"))
    yield Source("node-events.json", partial(_objects, lab, "/api/v1/namespaces/default/events"))
    yield Source("nodes.json", partial(_objects, lab, "/api/v1/nodes"))
    yield Source("fleet.yaml", lambda: lab.running.folder.fleet.read_text(encoding="utf-8"))
    for pod in lab.pods():
        yield from _of_pod(lab, pod)
    for pod in lab.view.plugins.all():
        # As long as one ends, the node has two.
        name = pod.name if pod.terminating or not pod.node else pod.node
        yield Source(f"plugins/{name}.log", partial(_log, lab, pod))
    for node in lab.nodes():
        yield from _of_node(node, since)


def _of_pod(lab: Lab, pod: Pod) -> Iterator[Source]:
    for each in (*pod.init_containers, *pod.containers):
        if each.id:
            file = f"pods/{pod.name}.{each.name}.log"
            yield Source(file, partial(_log, lab, pod, each.name))
    if lab.serves(pod):
        yield Source(f"{TIMELINES}{pod.name}.json", lambda: _timeline(lab, pod))


def _of_node(node: NodeHandle, since: datetime) -> Iterator[Source]:
    yield Source(f"plugins/{node.name}.journal.json", lambda: written(node.reading.journal()))
    yield Source(
        f"plugins/{node.name}.state.txt", lambda: "\n".join(node.reading.overview().lines())
    )
    if "kubelet_journal" in node.access.can:
        journal = partial(node.access.kubelet_journal, node.name, since)
        yield Source(f"kubelets/{node.name}.log", journal)


def _inside(lab: Lab) -> str:
    return f"/api/v1/namespaces/{lab.namespace}"


def _objects(lab: Lab, path: str) -> JsonValue:
    items: JsonValue = lab.running.client.connection.get(path)["items"]
    return items


def _log(lab: Lab, pod: Pod, container: str = "") -> str:
    client = lab.running.client
    text = client.logs(pod, tail=_LOG_LINES, most=_LOG_BYTES, container=container)
    chunks = sum(1 + len(line) // _CHUNK_BYTES for line in text.splitlines())
    # The kubelet's status may be a moment behind what it serves.
    name = container or next((each.name for each in pod.containers), "")
    was_cut = chunks >= _LOG_LINES or (name and client.has_rotated(pod, name))
    return without_partial_line(text) if was_cut else text


def without_partial_line(text: str) -> str:
    """Return what is left of a text that was cut before its beginning, from its first line on.

    Of the line that it begins in, the name of a secret may be what is missing, without which nobody
    knows that the rest is one.
    """
    partial, _, rest = text.partition("\n")
    left_out = len(partial.encode(errors="replace"))
    return (
        f"({left_out} bytes are left out here, the rest of a line, and all that was printed before "
        f"them)\n{rest}"
    )


def _timeline(lab: Lab, pod: Pod) -> JsonValue:
    return timeline_of(lab.running, pod.namespace, pod.name, lab.clock).as_json()
