"""The plugins' control API through the API server, and what goes wrong on the way."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from lab.cluster import reading
from lab.cluster.client import Client
from lab.cluster.connection import ApiFailed
from lab.cluster.plugin.api import PluginApi, PluginRefused
from lab.cluster.plugin.journal import Journal
from lab.cluster.plugin.rules import Rule
from lab.core.errors import CheckFailed, UsageError
from lab.core.exit_codes import ExitCode
from tests.unit.stand_ins.api_server import FakeApi, pod
from tests.unit.stand_ins.plugin import TOKEN, Plugin

PORT = 9441


@dataclass(frozen=True)
class Anything:
    """An answer of which nothing is expected."""


def of_pod(client: Client, token: str = TOKEN, waiting: dict[str, str] | None = None) -> PluginApi:
    """Return the API of the plugin in a pod."""
    found = reading.pod(pod("plugin-1", "t-lab-worker", waiting=waiting))
    return PluginApi(client, lambda: found, PORT, token, "t-lab")


@pytest.mark.usefixtures("plugin")
def test_calls_go_by_the_proxy_of_the_pod(client: Client, api: FakeApi) -> None:
    """With the token in a header that the proxy passes on."""
    assert of_pod(client).get("/v1/journal", Journal, {"since": "7"}) == Journal((), 1, ())
    request = api.requests[-1]
    parent = "/api/v1/namespaces/kube-system/pods/plugin-1:9441/proxy"
    assert (request.method, request.path) == ("GET", f"{parent}/v1/journal")
    assert request.query == {"since": "7"}


def test_what_is_asked_is_done(client: Client, plugin: Plugin) -> None:
    """Bodies are JSON, and answers are values."""
    plugin_api = of_pod(client)
    rule = plugin_api.post("/v1/faults", Rule, {"call": "Allocate", "hang": True})
    assert [each.fault for each in plugin.node.switchboard.book.entries()] == [rule.fault]
    plugin_api.delete(f"/v1/faults/{rule.fault.id}", Anything)
    assert plugin.node.switchboard.book.entries() == ()


@pytest.mark.usefixtures("plugin")
def test_a_refusal_has_the_plugins_own_words(client: Client) -> None:
    """It is about what the user asked for: exit code 2."""
    with pytest.raises(PluginRefused) as caught:
        of_pod(client).post("/v1/health", Anything, {"devices": ["7"], "becomes": "unhealthy"})
    error = caught.value
    assert isinstance(error, UsageError)
    assert error.exit_code is ExitCode.USAGE
    assert (error.what, error.missing) == ("this node has no device '7'", True)
    assert error.seen.startswith("it has chapter/0 fake-")
    assert error.remedy


@pytest.mark.usefixtures("plugin")
def test_a_rule_that_is_broken_is_not_something_missing(client: Client) -> None:
    """The same call is wrong on every node."""
    with pytest.raises(PluginRefused) as caught:
        of_pod(client).post("/v1/health", Anything, {"all": True, "becomes": "ill"})
    assert (caught.value.missing, caught.value.where) == (False, "")


@pytest.mark.usefixtures("plugin")
def test_a_wrong_token_is_mended_by_up(client: Client) -> None:
    """The lab's own is not what the pod has."""
    with pytest.raises(CheckFailed) as caught:
        of_pod(client, "another-token-0123456789").get("/v1/node", Anything)
    assert caught.value.render() == (
        "the plugin does not take the lab's token: the token is wrong\n"
        "  where: plugin-1\n"
        "  next:  give it the token that the lab has; it takes up to two minutes to arrive\n"
        "         $ gpulab up --name t-lab"
    )


def test_a_pod_that_does_not_listen_is_told(client: Client) -> None:
    """With its state, the server's words, and where to look."""
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 10s"}
    with pytest.raises(ApiFailed) as caught:
        of_pod(client, waiting=waiting).get("/v1/node", Anything)
    assert caught.value.render() == (
        "the plugin does not answer\n"
        "  where: pod plugin-1 (Pending CrashLoopBackOff: back-off 10s)\n"
        "  seen:  error trying to reach service: dial tcp 10.244.1.2:9441: connect: connection "
        "refused\n"
        "  next:  see what it says\n"
        "         $ gpulab logs t-lab-worker --name t-lab"
    )


@pytest.mark.parametrize(
    ("status", "content", "what"),
    [
        (500, {"error": dict.fromkeys(("what", "where", "seen", "remedy"), "x")}, "x"),
        (200, "no object", "the plugin's answer is not what this gpulab expects"),
        (502, {"other": 1}, "the plugin does not answer"),
    ],
)
def test_what_no_plugin_says_is_told(
    client: Client, api: FakeApi, status: int, content: object, what: str
) -> None:
    """Something else may listen there."""

    def answer(*_: str | Mapping[str, str] | bytes) -> tuple[int, bytes]:
        return status, json.dumps(content).encode()

    api.listening[f"plugin-1:{PORT}"] = answer
    with pytest.raises(CheckFailed) as caught:
        of_pod(client).get("/v1/node", Anything)
    assert caught.value.what == what


def test_a_server_that_is_away_is_told(api: FakeApi, client: Client) -> None:
    """As by every other call of it."""
    api.refusal = (403, "Forbidden", "you may not")
    with pytest.raises(ApiFailed) as caught:
        of_pod(client).get("/v1/node", Anything)
    assert caught.value.seen == "you may not"


def test_an_answer_of_another_version_is_told(client: Client, api: FakeApi) -> None:
    """With the place in it, and what brings lab and gpulab together."""
    api.listening[f"plugin-1:{PORT}"] = lambda *_: (200, b'{"calls": [], "next": "1", "open": []}')
    with pytest.raises(CheckFailed) as caught:
        of_pod(client).get("/v1/journal", Journal)
    assert caught.value.render() == (
        "the plugin's answer is not what this gpulab expects\n"
        "  where: GET /v1/journal of pod plugin-1\n"
        "  seen:  next: Input should be a valid integer\n"
        "  next:  where another version of gpulab made the lab, bring it up to date\n"
        "         $ gpulab up --name t-lab"
    )


def test_a_rule_of_another_version_is_told(client: Client, api: FakeApi) -> None:
    """One by which calls go wrong in a way that this gpulab does not know."""
    rule = b'{"id": "rule-1", "call": "Allocate", "melts": true, "seen": 0, "hit": 0}'
    api.listening[f"plugin-1:{PORT}"] = lambda *_: (200, rule)
    with pytest.raises(CheckFailed) as caught:
        of_pod(client).get("/v1/faults/rule-1", Rule)
    assert "melts is not something that this plugin acts on" in caught.value.seen
