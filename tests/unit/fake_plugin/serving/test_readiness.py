"""The health check that a kubelet makes itself, over TCP as it does."""

import socket
from typing import Final

import grpc
import pytest

from fake_plugin.errors import NotReady
from fake_plugin.serving.readiness import Readiness, ReadinessServer
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import CHANNEL_OPTIONS, wait_for_devices, wait_until

#: HealthCheckResponse of grpc.health.v1: field 1, status, as SERVING and as NOT_SERVING.
SERVING: Final = b"\x08\x01"
NOT_SERVING: Final = b"\x08\x02"


def check(port: int) -> bytes:
    """Ask as a kubelet does, with an empty request; return the bytes of the answer."""
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes]
        call = channel.unary_unary("/grpc.health.v1.Health/Check")
        return call(b"", timeout=5, wait_for_ready=True)


def test_every_resource_counts() -> None:
    """Ready is when the kubelet watches all of them, and as long as it does."""
    readiness = Readiness(["a.com/x", "b.com/x"])
    readiness.set_ready("a.com/x", ready=True)
    assert not readiness.is_ready
    readiness.set_ready("b.com/x", ready=True)
    assert readiness.is_ready
    readiness.set_ready("a.com/x", ready=False)
    assert not readiness.is_ready


def test_a_plugin_is_ready_while_it_is_watched(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The answer follows the kubelet: gone, it is no longer ready."""
    server = start_plugin(health="127.0.0.1:0").readiness_server
    assert server
    wait_for_devices(kubelet, RESOURCE, 2)
    wait_until("it to be ready", lambda: check(server.port) == SERVING)
    kubelet.stop()
    wait_until("it to be no longer ready", lambda: check(server.port) == NOT_SERVING)


def test_a_node_without_devices_is_ready() -> None:
    """There is nothing to wait for, and a rollout must not hang on such a node."""
    assert Readiness([]).is_ready


def test_a_port_that_is_taken_is_named() -> None:
    """The error has the address and the system's words."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(NotReady, match="cannot be listened on") as caught:
            ReadinessServer(Readiness([]), taken)
    assert (caught.value.where, caught.value.exit_code) == (taken, 3)
    assert taken in caught.value.seen
