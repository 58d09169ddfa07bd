"""Nodes that take a call and say nothing, as one does that is paused."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from urllib3.exceptions import ReadTimeoutError

from lab.cluster import reading, silence
from lab.cluster.advice import Advice
from lab.cluster.client import Client
from lab.cluster.connection import ApiFailed, ServerSilent
from lab.cluster.plugin.api import PluginApi
from lab.cluster.plugin.overview import Facts
from lab.cluster.silence import AGAIN_SECONDS, SECONDS, NodeSilent, Silences
from tests.unit.stand_ins.api_server import FakeApi, node, pod

POD = reading.pod(pod("plugin-1", "t-lab-worker"))


@pytest.fixture
def paused(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a node's plugin take calls and say nothing, for which nobody waits long."""
    over = threading.Event()

    def say_nothing(*_: str | Mapping[str, str] | bytes) -> tuple[int, bytes]:
        over.wait(60)
        return 502, b""

    monkeypatch.setattr(silence, "SECONDS", 0.2)
    api.listening["plugin-1:9441"] = say_nothing
    api.objects["/api/v1/nodes/t-lab-worker"] = node("t-lab-worker")
    yield
    over.set()


@pytest.mark.usefixtures("paused")
def test_a_plugin_that_says_nothing_is_told_with_its_node(client: Client, tmp_path: Path) -> None:
    """And not taken for the API server, which knows when the node was heard last."""
    plugin = PluginApi(client, lambda: POD, 9441, "token", "t-lab")
    with pytest.raises(NodeSilent) as raised:
        plugin.get("/v1/node", Facts)
    assert isinstance(raised.value.__cause__, ReadTimeoutError)
    assert str(raised.value) == (
        "the device plugin of node t-lab-worker does not answer\n"
        "  where: pod plugin-1 (Running)\n"
        "  seen:  nothing for 0 s; the API server answers, and has the node Ready, its kubelet "
        "reported last at 10:00:00 UTC\n"
        "  next:  see whether it runs: a node that is paused or hangs takes calls, and says "
        "nothing\n"
        "         $ docker ps --all --filter 'name=^t-lab-worker$'\n"
        f"         $ kubectl --kubeconfig {tmp_path / 'kubeconfig'} describe node t-lab-worker"
    )


class Reached:
    """A connection to a server that says this of the one node."""

    def __init__(self, says: ApiFailed | None = None) -> None:
        self.says = says
        self.advice = Advice("t-lab", "existing", Path("/my lab/kubeconfig"))

    def send(self, method: str, path: str, *, seconds: float) -> dict[str, Any]:
        """Return the node, which has no kubelet."""
        assert (method, path, seconds) == ("GET", "/api/v1/nodes/t-lab-worker", SECONDS)
        if self.says:
            raise self.says
        return {**node("t-lab-worker"), "status": {}}


def given(silences: Silences, *, ends: ApiFailed | None = None, of: str = "t-lab-worker") -> float:
    """Return how many seconds something has that is asked of a node, and ends by this error."""
    found: Any = SimpleNamespace(node=of, name="p", phase="Running")
    seconds = 0.0

    def ask() -> None:
        nonlocal seconds
        with silences.asking("the kubelet", found) as seconds:
            if ends:
                raise ends

    if isinstance(ends, ServerSilent):
        with pytest.raises(NodeSilent):
            ask()
    elif ends:
        with pytest.raises(ApiFailed):
            ask()
    else:
        ask()
    return seconds


SILENT = ServerSilent("the server does not answer")
REFUSED = ApiFailed("the server refuses", status=400)


@pytest.mark.parametrize("answers", [None, REFUSED])
def test_a_silent_node_has_little_time_until_it_answers(answers: ApiFailed | None) -> None:
    """Or all that there is to ask of it would take as long each."""
    connection: Any = Reached()
    silences = Silences(connection)
    assert [given(silences, ends=SILENT) for _ in range(3)] == [
        SECONDS,
        AGAIN_SECONDS,
        AGAIN_SECONDS,
    ]
    assert given(silences, of="another") == SECONDS
    assert given(silences, ends=answers) == AGAIN_SECONDS
    assert given(silences) == SECONDS


def test_how_to_look_at_a_silent_node_depends_on_the_cluster() -> None:
    """One that is not the lab's has nodes that are no containers of this machine."""
    connection: Any = Reached()
    with pytest.raises(NodeSilent) as raised, Silences(connection).asking("the kubelet", POD):
        raise SILENT
    assert raised.value.what == "the kubelet of node t-lab-worker does not answer"
    assert raised.value.seen.endswith("has the node NotReady, its kubelet never reported")
    assert raised.value.commands == (
        "kubectl --kubeconfig '/my lab/kubeconfig' describe node t-lab-worker",
    )


def test_a_server_that_says_nothing_of_the_node_either_is_what_is_silent() -> None:
    """Nothing is known of the node then, which has all of its time again."""
    connection: Any = Reached(SILENT)
    silences = Silences(connection)
    with pytest.raises(ServerSilent), silences.asking("the kubelet", POD):
        raise SILENT
    assert given(silences) == SECONDS
