"""The Kubernetes API, as far as the lab needs it: the only module that knows the client library.

What it returns are the values of `lab.cluster.objects`, so that everything above can be read,
typed and tested without the library. Importing this module loads it, which takes half a second:
import it late.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from kubernetes import client, config, watch
from urllib3.exceptions import HTTPError
from yaml import YAMLError

from lab.cluster import reading
from lab.cluster.objects import Node, Pod
from lab.core.errors import LabError, TimedOut

_APPLY: Final = "application/apply-patch+yaml"
_OWNER: Final = "gpu-lab"
#: A watch is opened anew after this long, so that a lost connection cannot hold a wait for ever.
_WATCH_SECONDS: Final = 30
#: To connect, and between two pieces of an answer: a stopped machine accepts and says nothing.
_TIMEOUT: Final = (5, 20)
_PAUSE_SECONDS: Final = 0.2
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")

_R = TypeVar("_R")


class ApiFailed(LabError):
    """The API server refused or could not be reached; `seen` holds its words, or the system's."""


class Client:
    """A connection to the API server that a kubeconfig names.

    Every method raises `ApiFailed` where the server refuses or does not answer.
    """

    def __init__(self, api: client.ApiClient, kubeconfig: Path, lab: str) -> None:
        self._api = api
        self._core = client.CoreV1Api(api)
        self._kubeconfig = kubeconfig
        self._lab = lab

    def version(self) -> str:
        """Return the server's version, such as `v1.36.3`."""
        return str(self._call(client.VersionApi(self._api).get_code).git_version)

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes by name."""
        listed = self._items(self._call(self._core.list_node))
        return tuple(sorted(map(reading.node, listed), key=lambda node: node.name))

    def pods(self, namespace: str | None = None, selector: str = "") -> tuple[Pod, ...]:
        """Return the pods of a namespace (default: of all) with the labels of the selector."""
        if namespace:
            listed = self._call(self._core.list_namespaced_pod, namespace, label_selector=selector)
        else:
            listed = self._call(self._core.list_pod_for_all_namespaces, label_selector=selector)
        return tuple(map(reading.pod, self._items(listed)))

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
        ends = time.monotonic() + timeout
        yield self.nodes()
        while (left := ends - time.monotonic()) > 0:
            stream = watch.Watch()
            window = max(1, int(min(left, _WATCH_SECONDS)))
            limits = {"timeout_seconds": window, "_request_timeout": (_TIMEOUT[0], window + 1)}
            try:
                for _ in stream.stream(self._core.list_node, **limits):
                    yield self.nodes()
            except (client.ApiException, HTTPError):
                # Cut off, or too old: look again, which also tells whether the server is there.
                time.sleep(_PAUSE_SECONDS)
                yield self.nodes()
            finally:
                stream.stop()

    def label_node(self, name: str, labels: Mapping[str, str | None]) -> None:
        """Set labels of a node; one whose value is None is removed."""
        self._call(self._core.patch_node, name, {"metadata": {"labels": dict(labels)}})

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
        self._call(self._core.patch_node, name, {"spec": {"taints": listed}})

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Apply a namespaced object on the server's side, under the lab's own field manager."""
        apps = client.AppsV1Api(self._api)
        patches = {
            "ConfigMap": self._core.patch_namespaced_config_map,
            "DaemonSet": apps.patch_namespaced_daemon_set,
        }
        meta = manifest["metadata"]
        self._call(
            patches[manifest["kind"]],
            meta["name"],
            meta["namespace"],
            dict(manifest),
            field_manager=_OWNER,
            force=True,
            _content_type=_APPLY,
        )

    def logs(self, pod: Pod, *, tail: int | None = None) -> str:
        """Return what the pod's only container has printed."""
        call = self._core.read_namespaced_pod_log
        return self._call(call, pod.name, pod.namespace, tail_lines=tail)

    def _items(self, listed: object) -> list[reading.Json]:
        items: list[reading.Json] = self._api.sanitize_for_serialization(listed)["items"]
        return items

    def _call(self, call: Callable[..., _R], *arguments: object, **named: object) -> _R:
        try:
            return call(*arguments, **named, _request_timeout=_TIMEOUT)
        except client.ApiException as error:
            raise self._refused(error) from error
        except (HTTPError, OSError) as error:
            raise self._unreachable(error) from error

    def _refused(self, error: client.ApiException) -> ApiFailed:
        return ApiFailed(
            f"the cluster's API server refused ({error.status} {error.reason})",
            where=str(self._kubeconfig),
            seen=_message(str(error.body or "")),
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
        raise ApiFailed(
            "the lab's kubeconfig cannot be used", where=str(kubeconfig), seen=str(error)
        ) from error
    return Client(api, kubeconfig, lab)
