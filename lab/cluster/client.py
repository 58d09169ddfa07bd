"""The Kubernetes API, as far as the lab needs it, in the values of `lab.cluster.objects`.

What it lacks is asked for through its `connection`. Importing this module takes half a second (see
`lab.cluster.connection`): import it late.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, TypeVar

from lab.cluster import reading
from lab.cluster.advice import Advice
from lab.cluster.connection import MERGE, ApiFailed, Connection, Json, Query, open_connection
from lab.cluster.kinds import Kinds
from lab.cluster.objects import Node, Pod
from lab.cluster.record import BackendName
from lab.cluster.silence import Silences
from lab.core.errors import TimedOut

_APPLY: Final = "application/apply-patch+yaml"
#: As kubectl asks for: a field that is misspelt would else be dropped.
_STRICT: Final = (("fieldValidation", "Strict"),)
_NODES: Final = "/api/v1/nodes"
_OWNER: Final = "gpu-lab"
#: A watch is opened anew after this long, so that a lost connection cannot hold a wait for ever.
_WATCH_SECONDS: Final = 30
#: The kubelet moves a full log aside (Kubernetes, pkg/kubelet/logs/container_log_manager.go).
_ROTATED: Final = re.compile(rb"\.log\.\d{8}-\d{6}")
_PAUSE_SECONDS: Final = 0.2

_Objects = TypeVar("_Objects")


class Client:
    """What the lab asks of an API server.

    Every method raises `ApiFailed` where the server refuses or does not answer, and those that the
    server passes on to a node raise `NodeSilent` where it is the node that does not answer.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.kinds = Kinds(connection)
        self._silences = Silences(connection)

    def version(self) -> str:
        """Return the server's version, such as `v1.36.3`."""
        return str(self.connection.get("/version")["gitVersion"])

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes by name."""
        listed = self.connection.get(_NODES)["items"]
        return tuple(sorted(map(reading.node, listed), key=lambda node: node.name))

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return the pods of a namespace (default: of all) with the labels of the selector."""
        path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
        query = [("labelSelector", selector)] if selector else []
        return tuple(map(reading.pod, self.connection.get(path, query)["items"]))

    def wait_until_it_answers(self, timeout: float) -> None:
        """Wait for a server that is starting; raises `TimedOut` with what was last seen."""
        ends = time.monotonic() + timeout
        while True:
            try:
                self.nodes()
            except ApiFailed as error:
                if time.monotonic() > ends:
                    what = f"the cluster's API server did not start within {timeout:g} s"
                    raise TimedOut(what, where=error.where, seen=error.seen) from error
                time.sleep(_PAUSE_SECONDS)
            else:
                return

    def node_changes(self, timeout: float) -> Iterator[tuple[Node, ...]]:
        """Yield all nodes now, and again at each change, until `timeout` seconds have passed."""
        yield from self._changes(_NODES, (), self.nodes, timeout)

    def pod_changes(
        self, namespace: str, selector: str, timeout: float
    ) -> Iterator[tuple[Pod, ...]]:
        """Yield a namespace's pods with these labels, as `node_changes` does the nodes."""
        path = f"/api/v1/namespaces/{namespace}/pods"
        query = (("labelSelector", selector),)
        yield from self._changes(path, query, lambda: self.pods(namespace, selector), timeout)

    def _changes(
        self, path: str, query: Query, look: Callable[[], _Objects], timeout: float
    ) -> Iterator[_Objects]:
        ends = time.monotonic() + timeout
        yield look()
        while (left := ends - time.monotonic()) > 0:
            window = max(1, int(min(left, _WATCH_SECONDS)))
            try:
                # Each line is an event; what it says of one object is looked up for all.
                for _ in self.connection.watch(path, query, window):
                    yield look()
            except ApiFailed:
                # Cut off, or too old: look again, which also tells whether the server is there.
                time.sleep(_PAUSE_SECONDS)
                yield look()

    def label_node(self, name: str, labels: Mapping[str, str | None]) -> None:
        """Set labels of a node; one whose value is None is removed."""
        self._merge(f"{_NODES}/{name}", {"metadata": {"labels": dict(labels)}})

    def taint_node(self, name: str, key: str, value: str | None, effect: str) -> None:
        """Set a taint of a node, or remove it with None as the value; the node's others stay.

        A node's taints are one list that is replaced whole, so the others are sent along.
        """
        (found,) = (node for node in self.nodes() if node.name == name)
        taints = {(each[0], each[2]): each[1] for each in found.taints}
        if value is None:
            taints.pop((key, effect), None)
        else:
            taints[key, effect] = value
        listed = [
            {"key": key, "value": value, "effect": effect}
            for (key, effect), value in sorted(taints.items())
        ]
        self._merge(f"{_NODES}/{name}", {"spec": {"taints": listed}})

    def apply(self, manifest: Json) -> Json:
        """Apply an object on the server's side, under the lab's own field manager; return it."""
        query = (("fieldManager", _OWNER), ("force", "true"))
        path = self.kinds.path_of(manifest)
        return self.connection.send("PATCH", path, query, body=manifest, content_type=_APPLY)

    def create(self, manifest: Json) -> Json:
        """Create an object, and return it as the server has it; a field that is none is refused."""
        path = self.kinds.parent_of(manifest)
        return self.connection.send("POST", path, _STRICT, body=manifest)

    def delete(self, manifest: Json, *, grace: int | None = None) -> None:
        """Delete an object of this name; `grace` is in seconds. One that is not there is no error.

        What it owns goes in the background.
        """
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        try:
            self.connection.send("DELETE", self.kinds.path_of(manifest), body=options)
        except ApiFailed as error:
            if not error.is_missing:
                raise

    def logs(
        self,
        pod: Pod,
        *,
        tail: int | None = None,
        most: int | None = None,
        container: str = "",
    ) -> str:
        """Return what a container of the pod has printed; none is needed where there is but one.

        Of `tail` lines at the end, up to `most` bytes from their beginning.
        """
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
        query = [("tailLines", str(tail))] if tail else []
        if most:
            query.append(("limitBytes", str(most)))
        if container:
            query.append(("container", container))
        with self._silences.asking("the kubelet", pod) as seconds:
            return self.connection.text(path, query, seconds=seconds)

    def has_rotated(self, pod: Pod, container: str) -> bool:
        """Whether the log of a container is known to have begun before what is left in one file."""
        folder = f"{pod.namespace}_{pod.name}_{pod.uid}/{container}"
        path = f"{_NODES}/{pod.node}/proxy/logs/pods/{folder}/"
        with self._silences.asking("the kubelet", pod) as seconds:
            status, listed = self.connection.ask("GET", path, (), None, {}, seconds=seconds)
        # Who may not look, or where there is nothing to see, knows of none.
        return status == HTTPStatus.OK and bool(_ROTATED.search(listed))

    def execute(
        self, pod: Pod, command: Sequence[str], *, container: str = "", seconds: float = 30
    ) -> tuple[int, str]:
        """Run a command in a running container; return its exit code and all that it printed.

        A code of -1 says that it has not ended within the seconds.
        """
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/exec"
        query = [("command", each) for each in command]
        if container:
            query.append(("container", container))
        with self._silences.asking("the kubelet", pod) as begins:
            return self.connection.execute(path, query, seconds, begins=begins)

    def call_pod(  # noqa: PLR0913, PLR0917 - each is a part of an HTTP request
        self,
        pod: Pod,
        port: int,
        method: str,
        path: str,
        query: Query = (),
        body: Json | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        who: str = "what is called",
    ) -> tuple[int, bytes]:
        """Call a pod through the API server; return status and content, whoever of both says it.

        The server keeps a header `Authorization` to itself. Where it cannot reach the pod, it
        answers in the pod's place, with a v1 Status. `who` is how an error calls what runs there.
        """
        parent = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}:{port}/proxy"
        with self._silences.asking(who, pod) as seconds:
            return self.connection.ask(
                method, parent + path, query, body, headers or {}, seconds=seconds
            )

    def _merge(self, path: str, patch: Json) -> None:
        self.connection.send("PATCH", path, body=patch, content_type=MERGE)


def connect(kubeconfig: Path, lab: str, backend: BackendName) -> Client:
    """Open a connection with the kubeconfig of this lab and no other.

    What errors advise depends on the backend.
    """
    return Client(open_connection(Advice(lab, backend, kubeconfig)))
