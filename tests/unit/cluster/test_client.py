"""The Kubernetes API through the client library, against a server on loopback."""

import inspect
import logging
import socketserver
import threading
import time
from collections.abc import Callable, Generator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.client import Client, connect
from lab.cluster.connection import ApiFailed
from lab.cluster.record import BackendName
from lab.core.errors import TimedOut, UsageError
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod, user_pod
from tests.unit.stand_ins.irregular import IRREGULAR
from tests.unit.stand_ins.kind_program import write_kubeconfig

WORKER = "/api/v1/nodes/t-lab-worker"
PLUGIN_LOG = '{"event": "registered", "resource": "fake.example.com/device"}\n'


@pytest.fixture
def nobody(tmp_path: Path) -> Client:
    """Return a connection to a port on which nobody listens."""
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, "http://127.0.0.1:1")
    return connect(path, "t-lab", "kind")


def taints(api: FakeApi) -> list[str]:
    """Return the taints of the worker, as kubectl writes them."""
    found = api.nodes["t-lab-worker"]["spec"]["taints"]
    return [f"{each['key']}={each['value']}:{each['effect']}" for each in found]


def test_version_is_the_servers(client: Client) -> None:
    """It may differ from what the node image is called."""
    assert client.version() == "v1.36.3"


def test_nodes_come_by_name(client: Client, api: FakeApi) -> None:
    """With the devices that they show, if any."""
    api.add(node("t-lab-a", devices=12_000))
    assert [(each.name, dict(each.allocatable)) for each in client.nodes()] == [
        ("t-lab-a", {GPU: 12_000}),
        ("t-lab-control-plane", {}),
        ("t-lab-worker", {}),
    ]


def test_node_without_a_status_is_listed(client: Client, api: FakeApi) -> None:
    """A node that was created by hand has none, and the library must not stumble over it."""
    api.add({"metadata": {"name": "t-bare", "labels": {}}})
    assert client.nodes()[0].name == "t-bare"


def test_pods_are_asked_for_by_namespace_and_label(client: Client, api: FakeApi) -> None:
    """The server selects, not the lab."""
    api.pods = [pod("plugin-1", "t-lab-worker")]
    assert [each.name for each in client.pods("kube-system", "app=fake-gpu-device-plugin")] == [
        "plugin-1"
    ]
    assert api.requests[-1].path == "/api/v1/namespaces/kube-system/pods"
    assert api.requests[-1].query == {"labelSelector": "app=fake-gpu-device-plugin"}


def test_label_is_set_and_removed(client: Client, api: FakeApi) -> None:
    """The node's other labels stay."""
    client.label_node("t-lab-worker", {"gpu-lab/pool": "a"})
    assert api.nodes["t-lab-worker"]["metadata"]["labels"]["gpu-lab/pool"] == "a"
    client.label_node("t-lab-worker", {"gpu-lab/pool": None})
    assert list(api.nodes["t-lab-worker"]["metadata"]["labels"]) == ["kubernetes.io/hostname"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("present", ["gpu=other:NoExecute", "gpu=present:NoSchedule", "mine=x:NoSchedule"]),
        (None, ["gpu=other:NoExecute", "mine=x:NoSchedule"]),
    ],
)
def test_taint_is_set_and_removed_among_others(
    client: Client, api: FakeApi, value: str | None, expected: list[str]
) -> None:
    """A taint is known by key and effect; the user's own stay."""
    there = [
        ("mine", "x", "NoSchedule"),
        ("gpu", "old", "NoSchedule"),
        ("gpu", "other", "NoExecute"),
    ]
    api.nodes["t-lab-worker"]["spec"]["taints"] = [
        {"key": key, "value": text, "effect": effect} for key, text, effect in there
    ]
    client.taint_node("t-lab-worker", "gpu", value, "NoSchedule")
    assert taints(api) == expected


@pytest.mark.parametrize(
    ("kind", "version", "path"),
    [
        ("ConfigMap", "v1", "/api/v1/namespaces/kube-system/configmaps/x"),
        ("DaemonSet", "apps/v1", "/apis/apps/v1/namespaces/kube-system/daemonsets/x"),
    ],
)
def test_object_is_applied_on_the_servers_side(
    client: Client, api: FakeApi, kind: str, version: str, path: str
) -> None:
    """Under the lab's own name, and whoever set a field before."""
    manifest = {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": "kube-system"},
        "spec": {"selector": {}, "template": {"metadata": {}}},
    }
    client.apply(manifest)
    (request,) = api.patches(path)
    assert request.content_type == "application/apply-patch+yaml"
    assert request.query == {"fieldManager": "gpu-lab", "force": "true"}
    assert request.body == manifest


@pytest.mark.parametrize("text", [PLUGIN_LOG, PLUGIN_LOG * 2, "", "plain words ✓\n"])
def test_log_is_returned_as_it_is(client: Client, api: FakeApi, text: str) -> None:
    """A single line of JSON is text too, and stays what the plugin wrote."""
    api.pods, api.logs = [pod("plugin-1", "t-lab-worker")], {"plugin-1": text}
    (found,) = client.pods()
    assert client.logs(found) == text


def test_log_can_be_cut_to_its_last_lines(client: Client, api: FakeApi) -> None:
    """The server cuts it."""
    api.pods, api.logs = [pod("plugin-1", "t-lab-worker")], {"plugin-1": PLUGIN_LOG}
    client.logs(client.pods()[0], tail=3)
    assert api.requests[-1].query == {"tailLines": "3"}
    client.logs(client.pods()[0], tail=3, most=1024)
    assert api.requests[-1].query == {"tailLines": "3", "limitBytes": "1024"}


@pytest.mark.parametrize(
    ("listed", "rotated"),
    [
        ({}, False),
        ({"c": '<a href="0.log">0.log</a>'}, False),
        ({"c": '<a href="0.log">\n<a href="0.log.20261203-120000">'}, True),
        ({"c": '<a href="0.log">\n<a href="0.log.20261203-120000.gz">'}, True),
        ({"other": '<a href="0.log.20261203-120000.gz">'}, False),
    ],
)
def test_a_log_that_the_kubelet_has_moved_aside_is_known(
    client: Client, api: FakeApi, *, listed: dict[str, str], rotated: bool
) -> None:
    """By the files beside it, where whoever asks may see them."""
    folder = "/api/v1/nodes/t-lab-worker/proxy/logs/pods/kube-system_plugin-1_"
    api.objects |= {f"{folder}/{name}/": {"files": text} for name, text in listed.items()}
    api.pods = [pod("plugin-1", "t-lab-worker")]
    assert client.has_rotated(client.pods()[0], "c") == rotated


@pytest.mark.parametrize("cut", [False, True])
def test_changes_end_with_their_time(client: Client, api: FakeApi, *, cut: bool) -> None:
    """Also where every watch breaks off; and there is a first look at once."""
    api.cut = cut
    looks = list(client.node_changes(0.3))
    assert len(looks) >= 2
    assert {each.name for each in looks[0]} == {"t-lab-control-plane", "t-lab-worker"}


def test_pods_are_looked_at_anew_at_each_event(client: Client, api: FakeApi) -> None:
    """Only those of the selector."""
    api.pods = [pod("plugin-1", "t-lab-worker"), user_pod("mine", "t-lab-worker", 1)]
    changes = client.pod_changes("kube-system", "app=fake-gpu-device-plugin", 60)
    looks = [*islice(changes, 3)]
    assert {tuple(each.name for each in pods) for pods in looks} == {("plugin-1",)}
    watches = [each for each in api.requests if "watch" in each.query]
    assert watches
    assert {each.query["labelSelector"] for each in watches} == {"app=fake-gpu-device-plugin"}


def test_change_is_seen_after_a_watch_broke_off(client: Client, api: FakeApi) -> None:
    """The next look is a new list, which misses nothing."""
    api.cut = True
    changes = client.node_changes(30)
    next(changes)
    api.add(node("t-lab-worker", devices=2))
    assert any(each.allocatable.get(GPU) == 2 for each in next(changes))


def test_watch_that_is_left_early_is_closed(client: Client, api: FakeApi) -> None:
    """Its socket would else be closed when nobody knows, which pytest calls an error."""
    api.add(*(node(f"t-{number}") for number in range(500)))
    lines = client.connection.watch("/api/v1/nodes", (), 5)
    assert isinstance(lines, Generator)
    next(lines)
    response = inspect.getgeneratorlocals(lines)["answer"].response
    lines.close()
    assert response.closed


def test_watch_that_the_server_refuses_is_opened_anew(client: Client, api: FakeApi) -> None:
    """A watch may be too old (410); a server that refuses the look as well is an error."""
    changes = client.node_changes(30)
    next(changes)
    api.refusal = (410, "Expired", "too old resource version")
    with pytest.raises(ApiFailed, match="410"):
        next(changes)


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (403, "Forbidden", 'nodes is forbidden: User "x" cannot list resource "nodes"'),
        (500, "InternalError", "etcdserver: request timed out"),
    ],
)
def test_refusal_has_the_servers_own_words(
    client: Client, api: FakeApi, code: int, reason: str, message: str
) -> None:
    """The message of the server's Status, without the JSON around it."""
    api.refusal = (code, reason, message)
    with pytest.raises(ApiFailed) as raised:
        client.nodes()
    assert raised.value.what.startswith(f"the cluster's API server refused ({code} ")
    assert raised.value.seen == message


def test_absent_server_is_told_plainly(nobody: Client, caplog: pytest.LogCaptureFixture) -> None:
    """One error, in the system's words, with what to do; and no warnings of a library."""
    caplog.set_level(logging.WARNING)
    with pytest.raises(ApiFailed) as raised:
        nobody.nodes()
    assert raised.value.render() == (
        "the cluster's API server does not answer\n"
        "  where: http://127.0.0.1:1\n"
        "  seen:  Connection refused\n"
        "  next:  where the nodes are stopped, `gpulab up` starts them again\n"
        "         $ gpulab up --name t-lab"
    )
    assert caplog.records == []


def test_what_was_wrong_before_is_not_why_a_server_is_absent(nobody: Client) -> None:
    """As where evidence of a failure is gathered: that failure is known."""

    def gather() -> None:
        try:
            _ = 1 // 0
        except ZeroDivisionError:
            nobody.nodes()

    with pytest.raises(ApiFailed) as raised:
        gather()
    assert raised.value.seen == "Connection refused"


def test_an_absent_server_of_another_cluster_is_not_started(tmp_path: Path) -> None:
    """The lab can look, and be told where the cluster is now."""
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, "http://127.0.0.1:1")
    with pytest.raises(ApiFailed) as raised:
        connect(path, "t-lab", "existing").nodes()
    assert raised.value.render() == (
        "the cluster's API server does not answer\n"
        "  where: http://127.0.0.1:1\n"
        "  seen:  Connection refused\n"
        "  next:  the cluster is not the lab's to start: see whether kubectl gets an answer; "
        "where the cluster has another address now, give the lab its kubeconfig again\n"
        f"         $ kubectl --kubeconfig {path} get nodes\n"
        "         $ gpulab up --name t-lab --kubeconfig FILE"
    )


class _BreaksOff(socketserver.BaseRequestHandler):
    """Begins an answer in chunks, and sends none."""

    def handle(self) -> None:
        self.request.recv(65536)
        self.request.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")


def test_answer_that_breaks_off_is_told_in_words(tmp_path: Path) -> None:
    """And not as what the library could not read of it."""
    with socketserver.TCPServer(("127.0.0.1", 0), _BreaksOff) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        path = tmp_path / "kubeconfig"
        write_kubeconfig(path, f"http://127.0.0.1:{server.server_address[1]}")
        with pytest.raises(ApiFailed) as caught:
            connect(path, "t-lab", "kind").nodes()
        thread.join()
    assert caught.value.seen == "the answer broke off before its end"


def test_proxy_of_the_environment_is_not_asked_for_this_machine(
    api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API server is on loopback, as kubectl knows too."""
    monkeypatch.setenv("no_proxy", "")
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    write_kubeconfig(tmp_path / "kubeconfig", api.address)
    assert connect(tmp_path / "kubeconfig", "t-lab", "kind").version() == "v1.36.3"


def test_server_that_is_starting_is_waited_for(
    client: Client, api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses for a while; a look later it does not."""
    api.refusal = (503, "ServiceUnavailable", "starting")
    monkeypatch.setattr(time, "sleep", lambda _: setattr(api, "refusal", None))
    client.wait_until_it_answers(30)
    assert len(api.requests) == 2


def test_server_that_does_not_start_is_given_up(nobody: Client) -> None:
    """What was last seen is in the error."""
    with pytest.raises(TimedOut, match="did not start within 0 s") as raised:
        nobody.wait_until_it_answers(0)
    assert raised.value.seen == "Connection refused"


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"kind: Config", b"{", b"\xff\xfe\x00", b"[1, 2]", b"contexts: 3"),
        b"current-context: a\ncontexts: [a]\nclusters: []\nusers: []\n",
        b"current-context: a\ncontexts: [{name: a, context: 3}]\nclusters: [{}]\nusers: []\n",
    ],
)
def test_useless_kubeconfig_is_replaced(tmp_path: Path, content: bytes) -> None:
    """Empty or damaged: what stands there has to go first, for kind would add to it."""
    path = tmp_path / "kubeconfig"
    path.write_bytes(content)
    with pytest.raises(ApiFailed, match="the lab's kubeconfig cannot be used") as raised:
        connect(path, "t-lab", "kind")
    assert raised.value.where == str(path)
    assert raised.value.commands == (
        f"rm {path}",
        f"kind export kubeconfig --name t-lab --kubeconfig {path}",
    )


@pytest.mark.parametrize("content", ["", "kind: Config", "{"])
def test_a_useless_copy_of_the_users_kubeconfig_is_given_again(
    tmp_path: Path, content: str
) -> None:
    """The program kind knows nothing of that cluster."""
    path = tmp_path / "kubeconfig"
    path.write_text(content)
    with pytest.raises(ApiFailed, match="the lab's kubeconfig cannot be used") as raised:
        connect(path, "t-lab", "existing")
    assert raised.value.remedy == "give the lab the kubeconfig of its cluster again"
    assert raised.value.commands == ("gpulab up --name t-lab --kubeconfig FILE",)


@pytest.mark.parametrize("put", IRREGULAR)
@pytest.mark.parametrize(
    ("backend", "again"),
    [
        ("kind", "kind export kubeconfig --name t-lab --kubeconfig {path}"),
        ("existing", "gpulab up --name t-lab --kubeconfig FILE"),
    ],
)
def test_what_is_no_kubeconfig_is_moved_away(
    tmp_path: Path, put: Callable[[Path], None], backend: BackendName, again: str
) -> None:
    """Nobody waits for the end of a pipe, and nothing can be written over a folder."""
    path = tmp_path / "kubeconfig"
    put(path)
    with pytest.raises(ApiFailed, match="the lab's kubeconfig cannot be used") as raised:
        connect(path, "t-lab", backend)
    assert raised.value.seen == "it is no regular file"
    assert raised.value.commands == (f"mv {path} {path}.moved", again.format(path=path))


def test_missing_kubeconfig_is_written_again(tmp_path: Path) -> None:
    """With a path that can be pasted."""
    path = tmp_path / "my lab"
    with pytest.raises(ApiFailed, match="the lab's kubeconfig is gone") as raised:
        connect(path, "t-lab", "kind")
    assert raised.value.where == str(path)
    assert raised.value.commands == (f"kind export kubeconfig --name t-lab --kubeconfig '{path}'",)


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        ({"apiVersion": "v1", "kind": "Pod"}, "/api/v1/namespaces/default/pods"),
        ({"apiVersion": "v1", "kind": "Namespace"}, "/api/v1/namespaces"),
        (
            {"apiVersion": "apps/v1", "kind": "DaemonSet"},
            "/apis/apps/v1/namespaces/default/daemonsets",
        ),
    ],
)
def test_objects_are_created_where_discovery_says(
    client: Client, api: FakeApi, manifest: dict[str, Any], path: str
) -> None:
    """The plural and whether there is a namespace are the server's to say."""
    client.create({**manifest, "metadata": {"name": "x"}})
    assert api.requests[-1].path == path
    # Or a field that is misspelt would be dropped without a word.
    assert api.requests[-1].query == {"fieldValidation": "Strict"}


def test_a_kind_that_the_server_does_not_know_is_named(client: Client) -> None:
    """With those that it does."""
    with pytest.raises(UsageError) as raised:
        client.create({"apiVersion": "apps/v1", "kind": "Demon", "metadata": {"name": "x"}})
    assert raised.value.what == "the cluster's API server knows no Demon of apps/v1"
    assert raised.value.seen == "kinds that it knows of apps/v1: DaemonSet"


def test_an_object_is_deleted_with_what_it_owns(client: Client, api: FakeApi) -> None:
    """In the background, and with the grace that is asked for."""
    client.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}, grace=0)
    assert (api.requests[-1].method, api.requests[-1].body) == (
        "DELETE",
        {"propagationPolicy": "Background", "gracePeriodSeconds": 0},
    )


def test_what_is_not_there_need_not_be_deleted(client: Client) -> None:
    """It is gone, as was wanted."""
    client.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "lost"}})
