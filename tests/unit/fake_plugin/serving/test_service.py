"""The calls of a device plugin, made by a client over a real socket."""

from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import create_autospec

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateRequest,
    ContainerAllocateRequest,
    ContainerPreferredAllocationRequest,
    Empty,
    PreferredAllocationRequest,
    PreStartContainerRequest,
)
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from fake_plugin.resources.resource import Resource
from fake_plugin.serving import streams
from fake_plugin.serving.interceptor import Switchboard
from fake_plugin.serving.listener import Listener, target
from fake_plugin.serving.sockets import SocketNames
from tests.unit.fake_plugin.conftest import Said, plain_resource
from tests.unit.fake_plugin.kubelet import CHANNEL_OPTIONS, wait_until


@pytest.fixture
def resource(tmp_path: Path) -> Resource:
    """Return a resource with four devices."""
    return plain_resource("example.com/device", 4, tmp_path)


@pytest.fixture
def listener(resource: Resource, folder: Path, tmp_path: Path) -> Iterator[Listener]:
    """Return a listener that serves the resource."""
    listener = Listener(resource, SocketNames(folder, tmp_path), Switchboard(), lambda: None)
    yield listener
    listener.close()


@pytest.fixture
def channel(listener: Listener) -> Iterator[grpc.Channel]:
    """Return a connection to the listener."""
    with grpc.insecure_channel(target(listener.path), options=CHANNEL_OPTIONS) as channel:
        yield channel


@pytest.fixture
def plugin(channel: grpc.Channel) -> DevicePluginStub:
    """Return the plugin as a client sees it."""
    return DevicePluginStub(channel)


def asking(*containers: list[str]) -> AllocateRequest:
    """Return a request for the devices of some containers."""
    return AllocateRequest(
        container_requests=[ContainerAllocateRequest(devices_ids=ids) for ids in containers]
    )


def test_options_announce_preferences_only(plugin: DevicePluginStub) -> None:
    """The kubelet is not made to depend on the plugin when a container starts."""
    options = plugin.GetDevicePluginOptions(Empty())
    assert options.get_preferred_allocation_available
    assert not options.pre_start_required


def test_each_container_gets_its_own_answer(plugin: DevicePluginStub) -> None:
    """One answer per container, in order, with the devices that were asked for."""
    answers = plugin.Allocate(asking(["d2"], ["d0", "d1"])).container_responses
    assert [answer.envs["GPULAB_VISIBLE_DEVICES"] for answer in answers] == ["d2", "d0,d1"]
    assert [len(answer.devices) for answer in answers] == [1, 2]


@pytest.mark.parametrize("name", ["", "d9", "D0", "ü"])
def test_an_unknown_device_is_refused_by_name(
    plugin: DevicePluginStub, said: Said, name: str
) -> None:
    """Neither Allocate nor PreStartContainer makes up a device."""
    for call in (
        lambda: plugin.Allocate(asking(["d0"], ["d1", name])),
        lambda: plugin.PreStartContainer(PreStartContainerRequest(devices_ids=[name])),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            call()
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert caught.value.details() == f"example.com/device has no device {name!r} on this node"
    assert said("unknown-device") == [
        {"resource": "example.com/device", "call": call, "devices": [name]}
        for call in ("Allocate", "PreStartContainer")
    ]


def test_unknown_devices_are_shown_in_short(plugin: DevicePluginStub, said: Said) -> None:
    """Whatever is asked for, and however often, status and log stay readable."""
    long = "ü" * 79 + "…"
    for _ in range(3):
        with pytest.raises(grpc.RpcError) as caught:
            plugin.Allocate(asking(["d0", "ü" * 10_000, "a" * 80, "c", *map(str, range(10_000))]))
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        named = f"'{long}', '{'a' * 80}', 'c', and 10000 more"
        assert caught.value.details() == f"example.com/device has no device {named} on this node"
    (facts,) = said("unknown-device")
    assert facts["devices"] == [long, "a" * 80, "c", "and 10000 more"]


def test_a_container_may_start_with_known_devices(plugin: DevicePluginStub, said: Said) -> None:
    """PreStartContainer is answered though it is not asked for."""
    plugin.PreStartContainer(PreStartContainerRequest(devices_ids=["d1"]))
    assert said("pre-started") == [{"resource": "example.com/device", "devices": ["d1"]}]


def test_a_container_does_not_start_with_a_reset_that_cannot_be_written(
    plugin: DevicePluginStub, said: Said, fill_disk: Callable[[], None]
) -> None:
    """The kubelet shows the system's own words, and the log has a line and no traceback."""
    fill_disk()
    with pytest.raises(grpc.RpcError) as caught:
        plugin.PreStartContainer(PreStartContainerRequest(devices_ids=["d1"]))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    reason = "[Errno 28] No space left on device"
    assert caught.value.details() == f"the reset of the devices cannot be written: {reason}"
    assert (said("state-not-written"), said("pre-started")) == ([{"reason": reason}], [])


@pytest.mark.parametrize(
    ("available", "must", "size", "preferred"),
    [
        (["d3", "d1", "d0"], [], 2, ["d0", "d1"]),
        (["d0", "d1", "d3"], ["d3"], 2, ["d3", "d0"]),
        (["d0", "d3"], ["d3", "d3"], 2, ["d3", "d0"]),
        (["d0", "d3"], ["d3"], 3, ["d3", "d0"]),
        (["d1"], [], 3, ["d1"]),
        (["d1", "d9", "d2"], ["d8"], 2, ["d1", "d2"]),
        (["d0", "d1"], ["d1", "d0"], 1, ["d1"]),
        (["d0"], [], 0, []),
        (["d0"], [], -1, []),
        ([], [], 1, []),
    ],
)
def test_preferred_devices(
    plugin: DevicePluginStub, available: list[str], must: list[str], size: int, preferred: list[str]
) -> None:
    """What must be included comes first, then the lowest numbers, never more than asked for."""
    container = ContainerPreferredAllocationRequest(
        available_deviceIDs=available, must_include_deviceIDs=must, allocation_size=size
    )
    answer = plugin.GetPreferredAllocation(
        PreferredAllocationRequest(container_requests=[container])
    )
    assert [list(each.deviceIDs) for each in answer.container_responses] == [preferred]


def test_every_stream_has_the_whole_list(plugin: DevicePluginStub) -> None:
    """It comes at once, also to the second and the third who ask."""
    for each in [plugin.ListAndWatch(Empty()) for _ in range(3)]:
        sent = [(device.ID, device.health) for device in next(each).devices]
        assert sent == [(f"d{index}", "Healthy") for index in range(4)]


def test_streams_leave_room_for_other_calls(plugin: DevicePluginStub) -> None:
    """As many lists as are served can be watched, and Allocate is still answered."""
    lists = [plugin.ListAndWatch(Empty()) for _ in range(streams.MOST)]
    for each in lists:
        next(each)
    with pytest.raises(grpc.RpcError) as caught:
        next(plugin.ListAndWatch(Empty()))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert len(plugin.Allocate(asking(["d0"]), timeout=5).container_responses) == 1


def test_a_stream_that_its_caller_leaves_is_counted_out(
    plugin: DevicePluginStub, listener: Listener
) -> None:
    """The account of streams follows what callers do."""
    stream = plugin.ListAndWatch(Empty())
    next(stream)
    assert (listener.streams.watched, listener.streams.opened) == (True, True)
    stream.cancel()
    wait_until("the stream to be counted out", lambda: not listener.streams.watched)
    assert listener.streams.opened


def test_a_stream_whose_caller_left_before_it_opened_is_counted_out(
    resource: Resource,
) -> None:
    """The end of a call is told once, and for this one it is too late to listen."""
    context = create_autospec(grpc.ServicerContext, instance=True)
    context.add_callback.return_value = False
    account = streams.Streams(resource, lambda: None)
    assert all(account.enter(context) for _ in range(streams.MOST + 1))
    assert (account.watched, account.opened) == (False, True)


def test_the_first_stream_alone_is_the_kubelets(
    plugin: DevicePluginStub, listener: Listener, said: Said
) -> None:
    """Neither does another's end count as the kubelet's, nor does another's stream hide it."""
    opened = []
    for _ in range(3):
        opened.append(plugin.ListAndWatch(Empty()))
        next(opened[-1])
    kubelets, others, more = opened
    others.cancel()
    wait_until("the end of the other's", lambda: len(said("stream-ended")) == 1)
    assert listener.streams.watched
    kubelets.cancel()
    wait_until("the end of the kubelet's", lambda: not listener.streams.watched)
    assert more.is_active()


def test_streams_end_when_the_listener_closes(plugin: DevicePluginStub, listener: Listener) -> None:
    """The kubelet sees the end of the list as such, and the socket is gone."""
    stream = plugin.ListAndWatch(Empty())
    next(stream)
    listener.close()
    assert list(stream) == []
    assert not listener.path.exists()


@pytest.mark.parametrize(
    ("method", "request_bytes", "code"),
    [
        ("Allocate", b"\xff\xff", grpc.StatusCode.INTERNAL),
        ("Allocate", b"\x0a\x02\x0a\x05", grpc.StatusCode.INTERNAL),
        ("NoSuchCall", b"", grpc.StatusCode.UNIMPLEMENTED),
    ],
)
def test_garbage_is_refused_and_does_no_harm(
    channel: grpc.Channel, method: str, request_bytes: bytes, code: grpc.StatusCode
) -> None:
    """Bytes that are no message, and calls that do not exist, end with a status."""
    call: Callable[..., bytes] = channel.unary_unary(f"/v1beta1.DevicePlugin/{method}")
    with pytest.raises(grpc.RpcError) as caught:
        call(request_bytes)
    assert caught.value.code() is code
    assert DevicePluginStub(channel).Allocate(asking(["d0"])).container_responses


def test_long_lists_of_devices_are_cut_in_the_log(folder: Path, tmp_path: Path, said: Said) -> None:
    """A line of the log stays readable, whatever a container asks for."""
    many = plain_resource("example.com/many", 100, tmp_path)
    listener = Listener(many, SocketNames(folder, tmp_path), Switchboard(), lambda: None)
    with grpc.insecure_channel(target(listener.path), options=CHANNEL_OPTIONS) as channel:
        DevicePluginStub(channel).Allocate(asking([device.id for device in many.devices]))
    listener.close()
    (allocated,) = said("allocated")
    assert isinstance(allocated["devices"], list)
    assert allocated["devices"][-2:] == ["d15", "and 84 more"]


def test_a_socket_that_cannot_be_opened_is_an_error(
    resource: Resource, folder: Path, tmp_path: Path
) -> None:
    """A folder that vanished is told as such, and leaves no record behind."""
    names = SocketNames(folder, tmp_path)
    folder.rmdir()
    with pytest.raises(OSError, match="gpulab-"):
        Listener(resource, names, Switchboard(), lambda: None)
    assert list((tmp_path / "sockets").iterdir()) == []


@pytest.mark.parametrize("name", ["a b", "a%20b", "a#b", "a?b", "ü"])
def test_any_folder_name_can_be_listened_in(
    resource: Resource, folder: Path, tmp_path: Path, name: str
) -> None:
    """A path is no URI: what has a meaning there is only a letter here."""
    (folder / name).mkdir()
    listener = Listener(resource, SocketNames(folder / name, tmp_path), Switchboard(), lambda: None)
    assert listener.is_in_place
    listener.close()
