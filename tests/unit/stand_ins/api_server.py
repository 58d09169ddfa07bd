"""An API server on loopback with just the paths that the lab asks for, and what can go wrong."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

GPU: Final = "fake.example.com/device"
#: The label of nodes that the plugin's DaemonSet is for.
PLUGIN: Final = "gpu-lab/device-plugin"
KUBE_SYSTEM: Final = "/api/v1/namespaces/kube-system"
Json = dict[str, Any]
_KINDS: Final = {
    "/api/v1": ("ConfigMap", "Namespace", "Node", "Pod", "Secret"),
    "/apis/apps/v1": ("DaemonSet",),
}
_VERSION: Final = (
    "major",
    "minor",
    "gitCommit",
    "gitTreeState",
    "buildDate",
    "goVersion",
    "compiler",
    "platform",
)
#: What is in every cluster.
_THERE: Final[dict[str, Json]] = {
    "/version": {"gitVersion": "v1.36.3", **dict.fromkeys(_VERSION, "")},
    KUBE_SYSTEM: {"metadata": {"uid": "cluster-1"}},
}
#: Answers a call that came for a pod: method, path with its query, headers, body.
Answering = Callable[[str, str, Mapping[str, str], bytes], tuple[int, bytes]]


def node(
    name: str, *, devices: int = 0, ready: bool = True, heard: str = "2026-12-01T10:00:00Z"
) -> Json:
    """Return a node as the API server has it; `heard` is when its kubelet last reported."""
    amounts = {"cpu": "2"} | ({GPU: str(devices)} if devices else {})
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "nodeInfo": _node_info("v1.36.3"),
            "conditions": [
                {"type": "Ready", "status": str(ready), "lastHeartbeatTime": heard},
            ],
            "capacity": amounts,
            "allocatable": dict(amounts),
        },
    }


def pod(name: str, node_name: str, *, waiting: Json | None = None) -> Json:
    """Return a plugin's pod of one container, which runs unless it is waiting."""
    status = {
        "name": "c",
        "image": "i",
        "imageID": "",
        "ready": not waiting,
        "restartCount": 0,
        "state": {"waiting": waiting} if waiting else {"running": {}},
    }
    labels = {"app": "fake-gpu-device-plugin"}
    return {
        "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
        "spec": {"nodeName": node_name, "containers": [{"name": "c", "image": "plugin:1"}]},
        "status": {"phase": "Pending" if waiting else "Running", "containerStatuses": [status]},
    }


def user_pod(name: str, node_name: str, devices: int, phase: str = "Running") -> Json:
    """Return a pod of a user that asks for devices."""
    resources = {"requests": {GPU: str(devices)}}
    container = {"name": "c", "image": "i", "resources": resources}
    return {
        "metadata": {"name": name, "namespace": "default", "labels": {}},
        "spec": {"nodeName": node_name, "containers": [container]},
        "status": {"phase": phase},
    }


def _node_info(version: str) -> Json:
    fields = (
        "architecture",
        "bootID",
        "containerRuntimeVersion",
        "kernelVersion",
        "kubeProxyVersion",
        "machineID",
        "operatingSystem",
        "osImage",
        "systemUUID",
    )
    return {**dict.fromkeys(fields, ""), "kubeletVersion": version}


@dataclass(frozen=True)
class Request:
    """A request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    content_type: str
    body: Any


@dataclass
class FakeApi:
    """What is in the cluster, and how the server behaves.

    `refusal` is the status code, reason and message of each answer, `cut` breaks watches off
    in the middle of a line, `comes` is what all nodes get once the plugin is applied, whose pods
    are ready at once. `listening` are pods with a port, as `pod:9441`, that the proxy reaches.
    `objects` are by their paths. `denied` are verbs and resources that `user` has no right to,
    `no_pods` the words by which pods are refused; `runs` returns what becomes of one that is made.
    """

    nodes: dict[str, Json] = field(default_factory=dict)
    pods: list[Json] = field(default_factory=list)
    logs: dict[str, str] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    refusal: tuple[int, str, str] | None = None
    cut: bool = False
    comes: dict[str, str] = field(default_factory=dict)
    listening: dict[str, Answering] = field(default_factory=dict)
    address: str = ""
    objects: dict[str, Json] = field(default_factory=lambda: dict(_THERE))
    user: str = "jane"
    denied: set[tuple[str, str]] = field(default_factory=set)
    no_pods: str = ""
    runs: Callable[[Json], Json] = dict

    def add(self, *nodes: Json) -> None:
        """Put nodes into the cluster."""
        self.nodes |= {each["metadata"]["name"]: each for each in nodes}

    def patches(self, path: str) -> list[Request]:
        """Return the patches of what is at a path."""
        return [each for each in self.requests if (each.method, each.path) == ("PATCH", path)]

    def selected(self, query: dict[str, str]) -> list[Json]:
        """Return the pods with the label that is asked for, whatever its value where none is."""
        key, by_value, value = query.get("labelSelector", "").partition("=")
        labels = [(each, each["metadata"]["labels"]) for each in self.pods]
        if not by_value:
            return [each for each, own in labels if not key or key in own]
        return [each for each, own in labels if own.get(key) == value]

    def apply_to_node(self, name: str, patch: Json) -> Json:
        """Merge a patch as the API server does: None takes a label away, taints are one list."""
        found = self.nodes[name]
        labels = found["metadata"]["labels"] | patch.get("metadata", {}).get("labels", {})
        found["metadata"]["labels"] = {key: value for key, value in labels.items() if value}
        found["spec"] |= patch.get("spec", {})
        if PLUGIN not in found["metadata"]["labels"]:
            self.pods = [each for each in self.pods if not _is_plugin(each, name)]
        return found

    def review(self, kind: str, spec: Json) -> Json:
        """Say who asks, or whether they have a right."""
        if kind == "SelfSubjectReview":
            return {"userInfo": {"username": self.user}}
        asked = spec["resourceAttributes"]
        resource = "/".join(filter(None, (asked["resource"], asked["subresource"])))
        return {"allowed": (asked["verb"], resource) not in self.denied}

    def remove(self, path: str) -> None:
        """Remove what is at a path."""
        self.objects.pop(path, None)
        name = path.rpartition("/")[2]
        self.pods = [each for each in self.pods if each["metadata"]["name"] != name]

    def plug_in(self, daemon_set: Json) -> None:
        """Let the plugin's pods run on the nodes that are for it, and the devices appear."""
        template = daemon_set["spec"]["template"]["metadata"]
        self.pods = [
            {**each, "metadata": {**each["metadata"], **template}}
            for number, (name, found) in enumerate(self.nodes.items(), 1)
            if PLUGIN in found["metadata"]["labels"]
            for each in (pod(f"plugin-{number}", name),)
        ]
        for each in self.nodes.values():
            for key in ("capacity", "allocatable"):
                each["status"][key] |= self.comes


@contextmanager
def serving(api: FakeApi) -> Iterator[FakeApi]:
    """Serve it on a free port of loopback."""

    class Handler(_Handler):
        cluster = api

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        api.address = f"http://127.0.0.1:{server.server_port}"
        yield api
        server.shutdown()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    cluster: FakeApi

    def do_GET(self) -> None:
        request = self._received()
        if self._refused():
            return
        match request.path.strip("/").split("/"):
            case ["api", "v1", *_, "nodes" | "pods" as kind] if "watch" in request.query:
                nodes = list(self.cluster.nodes.values())
                self._watch(nodes if kind == "nodes" else self.cluster.selected(request.query))
            case ["api", "v1", "nodes"]:
                self._answer(_list("Node", list(self.cluster.nodes.values())))
            case ["api", "v1", "pods"] | ["api", "v1", "namespaces", _, "pods"]:
                self._answer(_list("Pod", self.cluster.selected(request.query)))
            case ["api", "v1", "namespaces", _, "pods", name, "log"] if name in self.cluster.logs:
                self._answer_text(self.cluster.logs[name])
            case ["api", "v1", "namespaces", _, "pods", name, "proxy", *_]:
                self._pass_on(name)
            case ["api", "v1", "namespaces", _, "pods", name, "log"]:
                self._fail(400, "BadRequest", f'container "c" in pod "{name}" is waiting to start')
            case _ if request.path in self.cluster.objects:
                self._answer(self.cluster.objects[request.path])
            case _ if request.path in _KINDS:
                self._answer(_kinds(request.path))
            case _:
                self._fail(404, "NotFound", f"nothing at {request.path}")

    def do_POST(self) -> None:
        request = self._received()
        if self._refused():
            return
        match request.path.strip("/").split("/"):
            case ["api", "v1", "namespaces", _, "pods", name, "proxy", *_]:
                self._pass_on(name)
            case [*_, "lost"]:
                self._fail(404, "NotFound", 'pods "lost" not found')
            case [*_, "selfsubjectaccessreviews" | "selfsubjectreviews"]:
                spec = request.body.get("spec", {})
                self._answer({"status": self.cluster.review(request.body["kind"], spec)}, 201)
            case [*_, "pods"] if self.cluster.no_pods:
                self._fail(403, "Forbidden", self.cluster.no_pods)
            case [*_, "pods"] if "dryRun" not in request.query:
                made = {"status": {}, **request.body}
                self.cluster.pods.append(made | self.cluster.runs(made))
                self._answer(made, 201)
            case _:
                self._answer(request.body)

    def do_DELETE(self) -> None:
        request = self._received()
        if self._refused():
            return
        match request.path.strip("/").split("/"):
            case ["api", "v1", "namespaces", _, "pods", name, "proxy", *_]:
                self._pass_on(name)
            case [*_, "lost"]:
                self._fail(404, "NotFound", 'pods "lost" not found')
            case _:
                self.cluster.remove(request.path)
                self._answer(request.body)

    def do_PATCH(self) -> None:
        request = self._received()
        if self._refused():
            return
        match request.path.strip("/").split("/"):
            case ["api", "v1", "nodes", name]:
                self._answer(self.cluster.apply_to_node(name, request.body))
            case [*_, "daemonsets", _]:
                self.cluster.plug_in(request.body)
                self.cluster.objects[request.path] = request.body
                self._answer(request.body)
            case _:
                self.cluster.objects[request.path] = request.body
                self._answer(request.body)

    def _pass_on(self, pod: str) -> None:
        """Call a pod as the proxy does: without the caller's credentials."""
        answering = self.cluster.listening.get(pod)
        if answering is None:
            reason = "dial tcp 10.244.1.2:9441: connect: connection refused"
            self._fail(503, "ServiceUnavailable", f"error trying to reach service: {reason}")
            return
        path = self.path.partition("/proxy")[2]
        headers = {key: value for key, value in self.headers.items() if key != "Authorization"}
        status, content = answering(self.command, path, headers, self._raw)
        self._send(content, "application/json", status)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Keep the log out of the output of the tests."""

    def _received(self) -> Request:
        parts = urlsplit(self.path)
        raw = self._raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(
            method=self.command,
            path=parts.path,
            query={key: values[0] for key, values in parse_qs(parts.query).items()},
            content_type=self.headers.get("Content-Type", ""),
            body=json.loads(raw) if raw else None,
        )
        self.cluster.requests.append(request)
        return request

    def _watch(self, objects: list[Json]) -> None:
        """Say that each object is there, and end; or break off in the middle of the first line."""
        lines = [json.dumps({"type": "ADDED", "object": each}) for each in objects]
        raw = "".join(f"{line}\n" for line in lines).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw) + self.cluster.cut))
        self.end_headers()
        self.wfile.write(raw)

    def _refused(self) -> bool:
        if self.cluster.refusal:
            self._fail(*self.cluster.refusal)
        return self.cluster.refusal is not None

    def _fail(self, code: int, reason: str, message: str) -> None:
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        self._answer(status | {"code": code, "reason": reason, "message": message}, code)

    def _answer(self, found: Json, code: int = 200) -> None:
        self._send(json.dumps(found).encode(), "application/json", code)

    def _answer_text(self, text: str) -> None:
        self._send(text.encode(), "text/plain", 200)

    def _send(self, raw: bytes, content_type: str, code: int) -> None:
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def _is_plugin(pod: Json, node_name: str) -> bool:
    labels = pod["metadata"]["labels"]
    app = str(labels.get("app"))
    return (pod["spec"]["nodeName"], app) == (node_name, "fake-gpu-device-plugin")


def _list(kind: str, items: list[Json]) -> Json:
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {}, "items": items}


def _kinds(path: str) -> Json:
    """Return what discovery says of a version: its kinds, as far as the lab uses them."""
    found = [
        {"kind": kind, "name": f"{kind.lower()}s", "namespaced": kind not in {"Namespace", "Node"}}
        for kind in _KINDS[path]
    ]
    return {"kind": "APIResourceList", "resources": found}
