"""A plugin that waits to be found, and what it tells whoever finds it."""

import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    ContainerAllocateRequest,
    DevicePluginOptions,
    Empty,
)
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from lab.harness.discovered import SERVICE, message_class, serve
from tests.unit.waiting import wait_until

RESOURCE = "found.example.com/device"


@pytest.fixture
def over() -> threading.Event:
    """Return what ends the plugin."""
    return threading.Event()


@pytest.fixture
def socket(folder: Path, over: threading.Event) -> Iterator[Path]:
    """Return the socket of a plugin with two devices."""
    path = folder / "found.sock"
    plugin = threading.Thread(target=serve, args=(path, RESOURCE, 2, over))
    plugin.start()
    wait_until("the socket is there", path.exists)
    yield path
    over.set()
    plugin.join()


@pytest.fixture
def channel(socket: Path) -> Iterator[grpc.Channel]:
    """Return a connection to the plugin, as the kubelet makes it."""
    with grpc.insecure_channel(f"unix://{socket}") as channel:
        yield channel


def call(channel: grpc.Channel, method: str, request: bytes = b"") -> bytes:
    """Call a method of the service by which a plugin is found."""
    calling: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
        f"/{SERVICE}/{method}", bytes, bytes
    )
    return calling(request, timeout=5)


def test_it_says_what_it_is(channel: grpc.Channel, capsys: pytest.CaptureFixture[str]) -> None:
    """By the numbers that the kubelet reads; the endpoint is this very socket."""
    info = message_class("PluginInfo")(
        type="DevicePlugin", name=RESOURCE, supported_versions=["v1beta1"]
    )
    asked = call(channel, "GetInfo")
    assert asked == info.SerializeToString()
    assert asked.startswith(b"\x0a\x0cDevicePlugin\x12\x18" + RESOURCE.encode())
    assert asked.endswith(b"\x22\x07v1beta1")
    assert capsys.readouterr().out == "the kubelet asks what this is\n"


@pytest.mark.parametrize(
    ("status", "said"),
    [(b"\x08\x01", "it is taken"), (b"\x12\x08bad name", "bad name")],
    ids=["taken", "refused"],
)
def test_it_prints_what_becomes_of_it(
    channel: grpc.Channel, capsys: pytest.CaptureFixture[str], status: bytes, said: str
) -> None:
    """In the kubelet's words, where there are any."""
    assert call(channel, "NotifyRegistrationStatus", status) == b""
    assert capsys.readouterr().out == f"the kubelet says: {said}\n"


def test_it_serves_its_devices(channel: grpc.Channel) -> None:
    """On the same socket: a list that stays, and the IDs in a variable."""
    plugin = DevicePluginStub(channel)
    stream = plugin.ListAndWatch(Empty())
    assert [each.ID for each in next(stream).devices] == ["found-0", "found-1"]
    asked = ContainerAllocateRequest(devices_ids=["found-1"])
    (answer,) = plugin.Allocate(AllocateRequest(container_requests=[asked])).container_responses
    assert answer.envs == {"GPULAB_VISIBLE_DEVICES": "found-1"}
    assert plugin.GetDevicePluginOptions(Empty()) == DevicePluginOptions()


def test_its_socket_goes_with_it(socket: Path, over: threading.Event) -> None:
    """By that the kubelet knows that it has gone."""
    over.set()
    wait_until("the socket is gone", lambda: not socket.exists())
