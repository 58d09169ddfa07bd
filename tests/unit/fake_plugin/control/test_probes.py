"""What is said to those who only ask whether the plugin is well."""

import pytest

from fake_plugin.control.node import Node
from tests.unit.fake_plugin.control.conftest import GPU, PLAIN, Call


@pytest.mark.parametrize("ready", [True, False])
def test_anyone_may_ask_whether_it_lives(call: Call, node: Node, *, ready: bool) -> None:
    """It does as long as it answers: a restart brings back no kubelet."""
    for resource in (GPU, PLAIN):
        node.readiness.set_ready(resource, ready=ready)
    told = call("GET", "/healthz", token="")
    assert (told.status, told.body) == (200, {"node": "worker"})


def test_anyone_may_ask_whether_it_is_ready(call: Call, node: Node) -> None:
    """It is when the kubelet watches every resource."""
    for resource in (GPU, PLAIN):
        node.readiness.set_ready(resource, ready=True)
    told = call("GET", "/readyz", token="")
    assert (told.status, told.body) == (200, {"node": "worker", "ready": True})


@pytest.mark.parametrize(
    ("watched", "seen"), [((), f"{PLAIN}, {GPU}"), ((PLAIN,), GPU), ((GPU,), PLAIN)]
)
def test_what_it_is_not_ready_for_is_told(
    call: Call, node: Node, watched: tuple[str, ...], seen: str
) -> None:
    """By a status that a probe understands, and names that a person does."""
    for resource in watched:
        node.readiness.set_ready(resource, ready=True)
    told = call("GET", "/readyz", token="")
    assert told.status == 503
    assert told.body["error"] == {
        "what": "the kubelet does not watch every resource",
        "where": "worker",
        "seen": f"not watched: {seen}",
        "remedy": "wait until they are registered; the plugin's log says what it waits for",
    }
