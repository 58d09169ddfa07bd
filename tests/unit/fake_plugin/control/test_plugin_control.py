"""The control API of a whole plugin, and a kubelet that is served beside it."""

import http.client
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fake_plugin.config import Config
from fake_plugin.control.server import AT_ONCE
from fake_plugin.errors import NotReady, WrongUse
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plan import Flap, Plan, Share
from fake_plugin.plugin import Plugin
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, TIMING, Said
from tests.unit.fake_plugin.control.conftest import TOKEN
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices
from tests.unit.waiting import wait_until

SHARE = Share("chapter", "chapter-0", 2, resource=RESOURCE)
Start = Callable[..., Plugin]


@pytest.fixture
def config(folder: Path, tmp_path: Path) -> Config:
    """Return what a plugin with a control API was told."""
    token = tmp_path / "token"
    token.write_text(TOKEN)
    return Config(Path("not-read"), "worker", folder, tmp_path, None, "127.0.0.1:0", token)


@pytest.fixture
def start(config: Config) -> Iterator[Start]:
    """Return what starts the plugin; it is stopped in the end."""
    with ExitStack() as stack:

        def started(plan: Plan | None = None) -> Plugin:
            plugin = Plugin(config, plan or Plan((SHARE,)), TIMING)
            stack.callback(plugin.stop)
            plugin.start()
            return plugin

        yield started


@pytest.fixture
def address(said: Said) -> Callable[[], tuple[str, int]]:
    """Return what tells where the API is, in the words of the plugin that was started."""

    def told() -> tuple[str, int]:
        (listening,) = said("control-listening")
        host, _, port = str(listening["address"]).rpartition(":")
        return host, int(port)

    return told


@pytest.fixture
def call(address: Callable[[], tuple[str, int]]) -> Callable[..., tuple[int, Any]]:
    """Return what calls the API."""

    def told(method: str, path: str, body: object = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(*address(), timeout=20)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        connection.request(method, path, json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        is_json = response.headers.get_content_type() == "application/json"
        return response.status, json.loads(text) if is_json else text.decode()

    return told


Call = Callable[..., tuple[int, Any]]


def test_a_command_is_heard_by_the_kubelet(
    kubelet: DeviceManager, start: Start, call: Call
) -> None:
    """A device that breaks is unhealthy in the kubelet's list, and well again when mended."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert call("POST", "/v1/health", {"devices": ["0"], "becomes": "unhealthy"})[0] == 200
    wait_for_devices(kubelet, RESOURCE, 1)
    assert call("POST", "/v1/clear")[0] == 200
    wait_for_devices(kubelet, RESOURCE, 2)


def test_cards_come_and_go_in_the_kubelets_list(
    kubelet: DeviceManager, start: Start, call: Call
) -> None:
    """Without another registration."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    call("POST", "/v1/cards", {"add": {"pool": "chapter", "count": 3}})
    wait_for_devices(kubelet, RESOURCE, 5)
    call("POST", "/v1/cards", {"unplug": ["0", "4"]})
    wait_for_devices(kubelet, RESOURCE, 3)
    assert len(sockets_told(kubelet)) == 1


def test_a_rule_over_the_api_holds_the_registration(
    kubelet: DeviceManager, start: Start, call: Call
) -> None:
    """A socket is removed, and the plugin comes back once the rule has gone."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    rule = call("POST", "/v1/faults", {"call": "Register", "hang": True})[1]["id"]
    assert call("POST", "/v1/sockets/remove", {"resource": RESOURCE})[0] == 200
    wait_until("the loss", lambda: call("GET", "/readyz")[0] == 503)
    assert call("GET", "/v1/node")[1]["resources"][0]["registered"] is False
    call("DELETE", f"/v1/faults/{rule}")
    wait_until("another Register", lambda: len(sockets_told(kubelet)) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)


def test_both_directions_are_in_the_journal(
    kubelet: DeviceManager, start: Start, call: Call
) -> None:
    """Register by the plugin; options and the list, which goes on, by the kubelet."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    journal = call("GET", "/v1/journal")[1]
    calls = [each["call"] for each in journal["calls"]]
    assert sorted(calls) == ["GetDevicePluginOptions", "ListAndWatch", "Register"]
    listed = journal["calls"][calls.index("ListAndWatch")]
    assert listed["answer"] == {"devices": 2, "healthy": 2, "unhealthy": []}
    assert [each["call"] for each in journal["open"]] == ["ListAndWatch"]


def test_metrics_are_of_this_node(kubelet: DeviceManager, start: Start, call: Call) -> None:
    """In the text that Prometheus reads."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    status, text = call("GET", "/metrics")
    assert status == 200
    assert text.startswith("# HELP ")


def test_the_fleets_script_runs(kubelet: DeviceManager, start: Start) -> None:
    """From the start of the plugin."""
    flap = Flap("chapter", 1, 0.02, repeats=False, becomes="unhealthy", breakage=Breakage())
    start(Plan((SHARE,), script=(flap,)))
    wait_for_devices(kubelet, RESOURCE, 1)


def test_a_flood_of_calls_does_not_keep_the_kubelet_waiting(
    kubelet: DeviceManager, start: Start, call: Call, address: Callable[[], tuple[str, int]]
) -> None:
    """Large bodies, slow senders and two hundred callers at once: devices come and go as ever."""
    start()
    wait_for_devices(kubelet, RESOURCE, 2)
    with ExitStack() as stack, ThreadPoolExecutor(32) as callers:
        for _ in range(AT_ONCE - 1):
            slow = stack.enter_context(socket.create_connection(address()))
            slow.sendall(b"POST /v1/health HTTP/1.0\r\nContent-Len")
        bodies = [{"cards": ["0"], "becomes": "toggled"}, "x" * 10 * 1024 * 1024]
        flood = [
            callers.submit(call, "POST", "/v1/health", bodies[number % 20 == 0])
            for number in range(200)
        ]
        assert call("POST", "/v1/cards", {"add": {"pool": "chapter", "count": 1}})[0] == 200
        statuses = [each.result()[0] for each in flood]
    assert (statuses.count(200), statuses.count(413)) == (190, 10)
    call("POST", "/v1/health", {"all": True, "becomes": "healthy"})
    wait_for_devices(kubelet, RESOURCE, 3)
    assert len(sockets_told(kubelet)) == 1


def test_a_token_that_is_too_short_keeps_the_plugin_from_starting(
    config: Config, start: Start
) -> None:
    """Nothing listens without one."""
    assert config.token_file
    config.token_file.write_text("short")
    with pytest.raises(WrongUse, match=r"^the token is too short$"):
        start()


def test_a_port_that_is_taken_keeps_the_plugin_from_starting(config: Config) -> None:
    """The error has the address, and the system's words."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(NotReady, match="--control") as caught:
            Plugin(replace(config, control=taken), Plan((SHARE,)), TIMING)
    assert (caught.value.where, "in use" in caught.value.seen) == (taken, True)
