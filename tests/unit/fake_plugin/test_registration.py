"""A resource is registered, and stays so over everything that may happen to the sockets."""

import shutil
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from fake_plugin.fleet.plan import Share
from fake_plugin.listener import target
from tests.unit.fake_plugin.conftest import RESOURCE, RESTLESS, TIMING, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import CHANNEL_OPTIONS, Behaviour, Kubelet, wait_until


def sockets(folder: Path) -> list[str]:
    """Return the names of the plugins' sockets."""
    return sorted(path.name for path in folder.glob("gpulab-*"))


def every_socket_is_new(kubelet: Kubelet) -> bool:
    """Tell whether no socket was registered twice, which wedges a kubelet of version 1.37."""
    endpoints = [request.endpoint for request in kubelet.requests]
    return len(set(endpoints)) == len(endpoints)


def test_plugin_registers_and_lists_its_devices(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """The kubelet learns version, name and socket, and gets the whole list at once."""
    start_plugin()
    connection = kubelet.wait_for_devices(RESOURCE, 2)
    request = connection.request
    assert (request.version, request.resource_name) == ("v1beta1", RESOURCE)
    assert sockets(kubelet.folder) == [request.endpoint]
    assert connection.options.get_preferred_allocation_available


def test_resources_of_a_node_are_registered_apart(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """Each resource has its socket and its devices."""
    start_plugin(Share("a", "a-0", 1, resource="a.com/x"), Share("b", "b-0", 3, resource="b.com/x"))
    first = kubelet.wait_for_devices("a.com/x", 1)
    second = kubelet.wait_for_devices("b.com/x", 3)
    assert sockets(kubelet.folder) == sorted([first.request.endpoint, second.request.endpoint])


@pytest.mark.parametrize("restarts", [1, 2])
def test_kubelet_restart_is_survived(
    kubelet: Kubelet, start_plugin: StartPlugin, restarts: int
) -> None:
    """A kubelet that starts removes all sockets: the plugin comes back on a fresh one."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    for _ in range(restarts):
        kubelet.restart()
    last = kubelet.wait_for_devices(RESOURCE, 2, seconds=4)
    assert last.lists == first.lists
    assert sockets(kubelet.folder) == [last.request.endpoint]
    assert every_socket_is_new(kubelet)


def test_a_removed_socket_is_noticed_without_inotify(
    kubelet: Kubelet, start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Where the system reports no changes, the plugin looks often enough by itself."""
    monkeypatch.setattr("fake_plugin.watch.INotify", _no_inotify)
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registered) == 2, seconds=4)
    assert [facts["reason"] for facts in said("watch-missing")] == ["no inotify here"]


def _no_inotify() -> None:
    raise OSError("no inotify here")


def test_plugin_waits_for_a_kubelet(folder: Path, start_plugin: StartPlugin, said: Said) -> None:
    """A plugin that is first says once that it waits, and registers as soon as it can."""
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    assert sockets(folder) == []
    kubelet = Kubelet(folder)
    kubelet.start()
    kubelet.wait_for_devices(RESOURCE, 2, seconds=4)
    # Between bind and listen, the socket is there and not answering for an instant.
    first, *rest = (facts["reason"] for facts in said("waiting-for-kubelet"))
    assert first == "kubelet.sock is not there"
    assert rest in ([], ["nobody listens on kubelet.sock"])
    kubelet.stop()


def test_a_stale_kubelet_socket_is_not_called(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """After a crash of the kubelet its socket is there, and nobody answers until it is back."""
    kubelet.stop()
    kubelet.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as crashed:
        crashed.bind(str(kubelet.socket))
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    kubelet.start()
    kubelet.wait_for_devices(RESOURCE, 2, seconds=4)
    assert said("waiting-for-kubelet")[0]["reason"] == "nobody listens on kubelet.sock"
    assert len(kubelet.requests) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('the ResourceName "gpu" is invalid', 'the ResourceName "gpu" is invalid (UNKNOWN)'),
        (
            "device plugin already connected: {}",
            "device plugin already connected: <socket> (UNKNOWN)",
        ),
    ],
)
def test_refusal_is_reported_in_the_kubelets_words(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said, text: str, words: str
) -> None:
    """What the kubelet says is logged once, while the plugin tries on with new sockets."""
    kubelet.behaviour.refuses = text
    start_plugin()
    wait_until("three attempts", lambda: len(kubelet.requests) >= 3)
    kubelet.behaviour.refuses = ""
    last = kubelet.wait_for_devices(RESOURCE, 2)
    assert [facts["reason"] for facts in said("refused")] == [words]
    assert every_socket_is_new(kubelet)
    assert sockets(kubelet.folder) == [last.request.endpoint]


def test_a_new_kubelet_that_keeps_the_sockets_is_told(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """The socket and the old stream are as they were: kubelet.sock alone tells of the new one."""
    start_plugin()
    kubelet.wait_for_devices(RESOURCE, 2)
    kubelet.socket.unlink()
    successor = Kubelet(kubelet.folder, Behaviour(keeps_sockets=True))
    successor.start()
    successor.wait_for_devices(RESOURCE, 2, seconds=4)
    assert "the kubelet has restarted" in str(said("registration-lost")[0]["reason"])
    successor.stop()


def test_a_register_without_answer_is_tried_on_a_new_socket(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """Nobody knows whether the kubelet took the first socket: it is closed and given up."""
    kubelet.behaviour.released = threading.Event()
    start_plugin(timing=replace(TIMING, register=0.2))
    wait_until("a second attempt", lambda: len(kubelet.requests) >= 2)
    kubelet.behaviour.released.set()
    last = kubelet.wait_for_devices(RESOURCE, 2)
    assert "DEADLINE_EXCEEDED" in str(said("refused")[0]["reason"])
    assert every_socket_is_new(kubelet)
    assert sockets(kubelet.folder) == [last.request.endpoint]


def test_a_kubelet_that_ends_within_register_is_waited_for(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """A connection that breaks is no refusal: a kubelet that restarts is no error."""
    kubelet.behaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(kubelet.requests))
    kubelet.restart()
    kubelet.wait_for_devices(RESOURCE, 2, seconds=4)
    assert said("waiting-for-kubelet")
    assert said("refused") == []


def test_kubelet_replaced_during_register_is_noticed(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """A new kubelet is not kept waiting for the answer of the old one."""
    kubelet.behaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(kubelet.requests))
    successor = Kubelet(kubelet.folder)
    successor.start()
    successor.wait_for_devices(RESOURCE, 2, seconds=4)
    kubelet.behaviour.released.set()
    successor.stop()


def test_own_socket_removed_is_made_anew(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """A kubelet can only dial a socket that is there: another one takes its place."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registered) == 2)
    kubelet.wait_for_devices(RESOURCE, 2)
    assert said("registration-lost")[0]["reason"] == "the socket of this plugin was removed"
    assert every_socket_is_new(kubelet)


def test_a_folder_in_the_place_of_the_own_socket_is_left_there(
    kubelet: Kubelet, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """With the record of sockets gone as well, the plugin goes on with another socket."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    shutil.rmtree(tmp_path / "sockets")
    (kubelet.folder / first.request.endpoint).unlink()
    (kubelet.folder / first.request.endpoint).mkdir()
    wait_until("another Register", lambda: len(kubelet.registered) == 2)
    kubelet.wait_for_devices(RESOURCE, 2)
    assert (kubelet.folder / first.request.endpoint).is_dir()


def test_old_stream_ends_before_the_new_socket_is_registered(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """Up to 1.36 the end of an old stream counts against the newest socket (#121994)."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    ended: list[bool] = []
    kubelet.behaviour.on_register = lambda: ended.append(first.ended.is_set())
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registered) == 2)
    assert ended == [True]


def test_a_stream_that_the_kubelet_drops_is_followed_by_a_new_registration(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """With kubelet.sock unchanged, as after a rolling update with two plugins (#121994)."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    first.channel.close()
    wait_until("another Register", lambda: len(kubelet.registered) == 2)
    kubelet.wait_for_devices(RESOURCE, 2)
    assert "no longer watches" in str(said("registration-lost")[0]["reason"])


def test_a_foreign_stream_does_not_hide_the_end_of_the_kubelets(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """Whoever else watches the list, the kubelet is told again when it stops."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    address = target(kubelet.folder / first.request.endpoint)
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        next(DevicePluginStub(channel).ListAndWatch(Empty()))
        first.channel.close()
        wait_until("another Register", lambda: len(kubelet.registered) == 2)
    kubelet.wait_for_devices(RESOURCE, 2)


def test_a_kubelet_that_never_watches_is_told_again(
    kubelet: Kubelet, start_plugin: StartPlugin, said: Said
) -> None:
    """An accepted registration without a stream shows no device: it is not left at that."""
    kubelet.behaviour.never_watches = True
    start_plugin()
    wait_until("a second Register", lambda: len(kubelet.registered) == 2)
    kubelet.behaviour.never_watches = False
    kubelet.wait_for_devices(RESOURCE, 2)
    assert "never asked for its devices" in str(said("registration-lost")[0]["reason"])
    assert every_socket_is_new(kubelet)


def test_a_watching_kubelet_is_kept_though_its_socket_is_gone(
    kubelet: Kubelet, start_plugin: StartPlugin, wait_for_passes: Callable[[], None]
) -> None:
    """Whoever removed kubelet.sock, the kubelet still has the devices of a stream that lives."""
    start_plugin(timing=RESTLESS)
    connection = kubelet.wait_for_devices(RESOURCE, 2)
    kubelet.socket.unlink()
    (kubelet.folder / connection.request.endpoint).unlink()
    wait_for_passes()
    assert not connection.ended.is_set()


def test_a_folder_made_anew_is_followed(kubelet: Kubelet, start_plugin: StartPlugin) -> None:
    """The folder goes with everything in it, and a kubelet makes another."""
    start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    kubelet.stop()
    shutil.rmtree(kubelet.folder)
    wait_until("the stream to end", first.ended.is_set)
    kubelet.folder.mkdir()
    kubelet.start()
    kubelet.wait_for_devices(RESOURCE, 2, seconds=4)
    kubelet.restart()
    kubelet.wait_for_devices(RESOURCE, 2, seconds=4)


def test_two_plugins_of_a_rolling_update_do_not_disturb_each_other(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """The new one registers beside the old one, and stays when that one ends."""
    old = start_plugin()
    first = kubelet.wait_for_devices(RESOURCE, 2)
    start_plugin()
    wait_until("the second plugin", lambda: len(kubelet.registered) == 2)
    second = kubelet.wait_for_devices(RESOURCE, 2)
    old.stop()
    assert first.ended.wait(5)
    assert sockets(kubelet.folder) == [second.request.endpoint]
    assert second.lists == first.lists
    assert not second.ended.is_set()


def test_a_plugin_that_stops_leaves_no_socket(
    kubelet: Kubelet, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """Neither a socket nor a record of one is left."""
    plugin = start_plugin()
    connection = kubelet.wait_for_devices(RESOURCE, 2)
    plugin.stop()
    assert connection.ended.wait(5)
    assert sockets(kubelet.folder) == []
    assert list((tmp_path / "sockets").iterdir()) == []


def test_a_plugin_stops_while_the_kubelet_does_not_answer(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """A call that hangs does not hold up the end."""
    kubelet.behaviour.released = threading.Event()
    plugin = start_plugin()
    wait_until("a Register", lambda: bool(kubelet.requests))
    plugin.stop()
    kubelet.behaviour.released.set()
    assert sockets(kubelet.folder) == []


def test_devices_that_pods_hold_stay_in_the_list(
    kubelet: Kubelet, start_plugin: StartPlugin
) -> None:
    """A restarted plugin lists all its devices; after a change of the fleet, the new number."""
    plugin = start_plugin(Share("chapter", "chapter-0", 8, resource=RESOURCE))
    before = kubelet.wait_for_devices(RESOURCE, 8)
    plugin.stop()
    start_plugin(Share("chapter", "chapter-0", 10, resource=RESOURCE))
    after = kubelet.wait_for_devices(RESOURCE, 10)
    assert [len(devices) for devices in after.lists] == [10]
    assert set(before.lists[0]) < set(after.lists[0])


def test_unrelated_files_cause_nothing(
    kubelet: Kubelet, start_plugin: StartPlugin, wait_for_passes: Callable[[], None]
) -> None:
    """Files that are neither the kubelet's nor the plugin's do not disturb a registration."""
    start_plugin(timing=RESTLESS)
    connection = kubelet.wait_for_devices(RESOURCE, 2)
    (kubelet.folder / "kubelet_internal_checkpoint").write_text("{}")
    (kubelet.folder / "gpulab-other.sock").touch()
    wait_for_passes()
    assert len(kubelet.requests) == 1
    assert not connection.ended.is_set()
