"""The Kubernetes API, as far as the lab needs it: the only module that knows the client library.

The library gives the connection: kubeconfig, certificates, credentials, pooling. Requests are made
as the API documents them and answers are read as JSON, into the values of `lab.cluster.objects`:
the library's generated classes take two seconds to load, and have every field optional. Importing
this module still takes half a second: import it late.
"""

import http
import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import IncompleteRead
from pathlib import Path
from typing import Any, Final, TypeVar

from kubernetes import client, config
from urllib3.exceptions import HTTPError
from yaml import YAMLError

from lab.cluster import reading
from lab.cluster.objects import Node, Pod
from lab.core.errors import CheckFailed, TimedOut

_APPLY: Final = "application/apply-patch+yaml"
_MERGE: Final = "application/merge-patch+json"
_NODES: Final = "/api/v1/nodes"
_OWNER: Final = "gpu-lab"
#: A watch is opened anew after this long, so that a lost connection cannot hold a wait for ever.
_WATCH_SECONDS: Final = 30
#: To connect, and between two pieces of an answer: a stopped machine accepts and says nothing.
_TIMEOUT: Final = (5, 20)
_PAUSE_SECONDS: Final = 0.2
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

Query = Sequence[tuple[str, str]]
_Objects = TypeVar("_Objects")


class ApiFailed(CheckFailed):
    """The API server refused or could not be reached; `seen` holds its words, or the system's."""


class Client:
    """A connection to the API server that a kubeconfig names.

    Every method raises `ApiFailed` where the server refuses or does not answer.
    """

    def __init__(self, api: client.ApiClient, kubeconfig: Path, lab: str) -> None:
        self._api = api
        self._kubeconfig = kubeconfig
        self._lab = lab

    def version(self) -> str:
        """Return the server's version, such as `v1.36.3`."""
        return str(self._get("/version")["gitVersion"])

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes by name."""
        listed = self._get(_NODES)["items"]
        return tuple(sorted(map(reading.node, listed), key=lambda node: node.name))

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return the pods of a namespace (default: of all) with the labels of the selector."""
        path = f"/api/v1/namespaces/{namespace}/pods" if namespace else "/api/v1/pods"
        query = [("labelSelector", selector)] if selector else []
        return tuple(map(reading.pod, self._get(path, query)["items"]))

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
            watch = [*query, ("watch", "true"), ("timeoutSeconds", str(window))]
            limits = (_TIMEOUT[0], float(window + 1))
            try:
                answer = self._open("GET", path, watch, timeout=limits)
                # Each line is an event; what it says of one object is looked up for all.
                for _ in answer.response:
                    yield look()
            except (ApiFailed, HTTPError):
                # Cut off, or too old: look again, which also tells whether the server is there.
                time.sleep(_PAUSE_SECONDS)
                yield look()

    def label_node(self, name: str, labels: Mapping[str, str | None]) -> None:
        """Set labels of a node; one whose value is None is removed."""
        self._patch(f"{_NODES}/{name}", {"metadata": {"labels": dict(labels)}})

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
        self._patch(f"{_NODES}/{name}", {"spec": {"taints": listed}})

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Apply a namespaced object on the server's side, under the lab's own field manager."""
        group = "apis" if "/" in manifest["apiVersion"] else "api"
        meta = manifest["metadata"]
        parent = f"/{group}/{manifest['apiVersion']}/namespaces/{meta['namespace']}"
        path = f"{parent}/{manifest['kind'].lower()}s/{meta['name']}"
        query = [("fieldManager", _OWNER), ("force", "true")]
        self._patch(path, manifest, query, content_type=_APPLY)

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return what the pod's only container has printed."""
        path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/log"
        query = [("tailLines", str(tail))] if tail else []
        return self._read("GET", path, query).decode(errors="replace")

    def call_pod(  # noqa: PLR0913, PLR0917 - each is a part of an HTTP request
        self,
        pod: Pod,
        port: int,
        method: str,
        path: str,
        query: Query = (),
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        """Call a pod through the API server; return status and content, whoever of both says it.

        The server keeps a header `Authorization` to itself. Where it cannot reach the pod, it
        answers in the pod's place, with a v1 Status.
        """
        parent = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}:{port}/proxy"
        request = (method, parent + path, query)
        answer = self._open(*request, body=body, headers=headers or {}, refusing=False)
        with self._reaching():
            return answer.status, bytes(answer.read())

    def _get(self, path: str, query: Query = ()) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self._read("GET", path, query))

    def _patch(
        self,
        path: str,
        body: Mapping[str, Any],
        query: Query = (),
        content_type: str = _MERGE,
    ) -> None:
        self._read("PATCH", path, query, body=body, content_type=content_type)

    def _read(self, *request: Any, **parts: Any) -> bytes:  # noqa: ANN401 - as `_open` takes them
        """Send a request and return the whole answer."""
        answer = self._open(*request, **parts)
        with self._reaching():
            return bytes(answer.read())

    def _open(  # noqa: PLR0913 - each is a part of an HTTP request
        self,
        method: str,
        path: str,
        query: Query = (),
        *,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
        timeout: tuple[float, float] = _TIMEOUT,
        refusing: bool = True,
    ) -> client.rest.RESTResponse:
        """Send a request and return the answer, unread; a refusal, if any, is read and raised."""
        given = {"Accept": "*/*", "Content-Type": content_type, **(headers or {})}
        method, url, complete, sent, _ = self._api.param_serialize(
            method,
            path,
            query_params=list(query),
            header_params=given,
            body=dict(body) if body is not None else None,
            auth_settings=["BearerToken"],
        )
        with self._reaching():
            answer = self._api.call_api(method, url, complete, sent, _request_timeout=timeout)
            if refusing and answer.status >= http.HTTPStatus.BAD_REQUEST:
                raise self._refused(answer)
        return answer

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (HTTPError, OSError, client.ApiException) as error:
            raise self._unreachable(error) from error

    def _refused(self, answer: client.rest.RESTResponse) -> ApiFailed:
        return ApiFailed(
            f"the cluster's API server refused ({answer.status} {answer.reason})",
            where=str(self._kubeconfig),
            seen=_message(answer.read().decode(errors="replace")),
        )

    def _unreachable(self, error: Exception) -> ApiFailed:
        return ApiFailed(
            "the cluster's API server does not answer",
            where=str(self._api.configuration.host),
            seen=_cause(error),
            remedy="where the nodes are stopped, `gpulab up` starts them again",
            commands=(f"gpulab up --name {self._lab}",),
        )


def _message(body: str) -> str:
    """Return the words of a v1 Status, or the body as it is where it is something else."""
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body


def _cause(error: BaseException) -> str:
    """Return what the system said, which the libraries wrap in their own objects' names."""
    while inner := error.__cause__ or error.__context__:
        if isinstance(error, IncompleteRead):
            # Behind it is only what the library could not make of the rest.
            return "the answer broke off before its end"
        error = inner
    return str(getattr(error, "strerror", None) or error)


def connect(kubeconfig: Path, lab: str) -> Client:
    """Open a connection with the kubeconfig of this lab and no other."""
    settings = client.Configuration()
    # The library would repeat what failed at once, with a warning on stderr each time.
    settings.retries = False
    # As kubectl does: a proxy has no way to this machine's loopback, where kind's servers are.
    settings.no_proxy = ",".join(filter(None, (settings.no_proxy, *_LOOPBACK)))
    try:
        api = config.new_client_from_config(str(kubeconfig), client_configuration=settings)
    except (config.ConfigException, YAMLError, OSError) as error:
        raise _kubeconfig_lost(kubeconfig, lab, error) from error
    return Client(api, kubeconfig, lab)


def _kubeconfig_lost(kubeconfig: Path, lab: str, error: Exception) -> ApiFailed:
    export = ("kind", "export", "kubeconfig", "--name", lab, "--kubeconfig", str(kubeconfig))
    # kind adds to a file that is there, and would stumble over this one.
    clear = (shlex.join(("rm", str(kubeconfig))),) if kubeconfig.exists() else ()
    return ApiFailed(
        f"the lab's kubeconfig {'cannot be used' if clear else 'is gone'}",
        where=str(kubeconfig),
        seen=str(error),
        remedy="have kind write it again",
        commands=(*clear, shlex.join(export)),
    )
