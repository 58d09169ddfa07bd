"""The Kubernetes API, as far as the lab needs it: the only module that knows the client library.

What it returns are the values of `lab.cluster.objects`, so that everything above can be read,
typed and tested without the library. Importing this module loads it, which takes half a second:
import it late.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

from kubernetes import client, config, watch

from lab.cluster import reading
from lab.cluster.objects import Node, Pod
from lab.core.errors import LabError

_APPLY: Final = "application/apply-patch+yaml"
_OWNER: Final = "gpu-lab"
#: A watch is opened anew after this long, so that a lost connection cannot hold a wait for ever.
_WATCH_SECONDS: Final = 30


_P = ParamSpec("_P")
_R = TypeVar("_R")


class ApiFailed(LabError):
    """The API server refused or could not be reached; `seen` holds its words."""


class Client:
    """A connection to the API server that a kubeconfig names."""

    def __init__(self, api: client.ApiClient, kubeconfig: Path) -> None:
        self._api = api
        self._core = client.CoreV1Api(api)
        self._kubeconfig = kubeconfig

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

    def node_changes(self, timeout: float) -> Iterator[tuple[Node, ...]]:
        """Yield all nodes now, and again at each change, until `timeout` seconds have passed."""
        ends = time.monotonic() + timeout
        yield self.nodes()
        while (left := ends - time.monotonic()) > 0:
            stream = watch.Watch()
            window = max(1, int(min(left, _WATCH_SECONDS)))
            try:
                for _ in stream.stream(self._core.list_node, timeout_seconds=window):
                    yield self.nodes()
            except client.ApiException as error:
                raise self._failure(error) from error
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

    def _call(self, call: Callable[_P, _R], *arguments: _P.args, **named: _P.kwargs) -> _R:
        try:
            return call(*arguments, **named)
        except (client.ApiException, OSError) as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> ApiFailed:
        return ApiFailed(
            "the cluster's API server refused",
            where=str(self._kubeconfig),
            seen=str(getattr(error, "body", None) or error),
        )


def connect(kubeconfig: Path) -> Client:
    """Open a connection with this kubeconfig and no other."""
    try:
        api = config.new_client_from_config(str(kubeconfig))
    except (config.ConfigException, OSError) as error:
        raise ApiFailed(
            "the lab's kubeconfig cannot be used", where=str(kubeconfig), seen=str(error)
        ) from error
    return Client(api, kubeconfig)
