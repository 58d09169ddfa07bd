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
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, RESTLESS, TIMING, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import (
    CHANNEL_OPTIONS,
    sockets_told,
    wait_for_devices,
    wait_until,
)


def sockets(folder: Path) -> list[str]:
    """Return the names of the plugins' sockets."""
    return sorted(path.name for path in folder.glob("gpulab-*"))


def every_socket_is_new(kubelet: DeviceManager) -> bool:
    """Tell whether no socket was registered twice, which wedges a kubelet of version 1.37."""
    told = sockets_told(kubelet)
    return len(set(told)) == len(told)


def test_plugin_registers_and_lists_its_devices(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The kubelet learns version, name and socket, and gets the whole list at once."""
    start_plugin()
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    request = connection.request
    assert (request.version, request.resource_name) == ("v1beta1", RESOURCE)
    assert sockets(kubelet.folder) == [request.endpoint]
    assert connection.options.get_preferred_allocation_available


def test_resources_of_a_node_are_registered_apart(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Each resource has its socket and its devices."""
    start_plugin(Share("a", "a-0", 1, resource="a.com/x"), Share("b", "b-0", 3, resource="b.com/x"))
    first = wait_for_devices(kubelet, "a.com/x", 1)
    second = wait_for_devices(kubelet, "b.com/x", 3)
    assert sockets(kubelet.folder) == sorted([first.request.endpoint, second.request.endpoint])


@pytest.mark.parametrize("restarts", [1, 2])
def test_kubelet_restart_is_survived(
    kubelet: DeviceManager, start_plugin: StartPlugin, restarts: int
) -> None:
    """A kubelet that starts removes all sockets: the plugin comes back on a fresh one."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    for _ in range(restarts):
        kubelet.restart()
    last = wait_for_devices(kubelet, RESOURCE, 2)
    assert last.devices == first.devices
    assert sockets(kubelet.folder) == [last.request.endpoint]
    assert every_socket_is_new(kubelet)


def test_a_removed_socket_is_noticed_without_inotify(
    kubelet: DeviceManager, start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Where the system reports no changes, the plugin looks often enough by itself."""
    monkeypatch.setattr("fake_plugin.watch.INotify", _no_inotify)
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    assert [facts["reason"] for facts in said("watch-missing")] == ["no inotify here"]


def _no_inotify() -> None:
    raise OSError("no inotify here")


def test_plugin_waits_for_a_kubelet(folder: Path, start_plugin: StartPlugin, said: Said) -> None:
    """A plugin that is first says once that it waits, and registers as soon as it can."""
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    assert sockets(folder) == []
    kubelet = DeviceManager(folder)
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.stop()
    assert said("waiting-for-kubelet")[0]["reason"] == "kubelet.sock is not there"


def test_a_stale_kubelet_socket_is_not_called(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """After a crash of the kubelet its socket is there, and nobody answers until it is back."""
    kubelet.stop()
    kubelet.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as crashed:
        crashed.bind(str(kubelet.socket))
    start_plugin()
    wait_until("a word about waiting", lambda: bool(said("waiting-for-kubelet")))
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("waiting-for-kubelet")[0]["reason"] == "nobody listens on kubelet.sock"
    assert len(sockets_told(kubelet)) == 1


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
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said, text: str, words: str
) -> None:
    """What the kubelet says is logged once, while the plugin tries on with new sockets."""
    kubelet.misbehaviour.refuses = text
    start_plugin()
    wait_until("three attempts", lambda: len(sockets_told(kubelet)) >= 3)
    kubelet.misbehaviour.refuses = ""
    last = wait_for_devices(kubelet, RESOURCE, 2)
    assert [facts["reason"] for facts in said("refused")] == [words]
    assert every_socket_is_new(kubelet)
    assert sockets(kubelet.folder) == [last.request.endpoint]


def test_a_new_kubelet_that_keeps_the_sockets_is_told(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """The socket and the old stream are as they were: kubelet.sock alone tells of the new one."""
    start_plugin()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.socket.unlink()
    successor = DeviceManager(kubelet.folder)
    successor.misbehaviour.keeps_sockets = True
    successor.start()
    wait_for_devices(successor, RESOURCE, 2)
    assert "the kubelet has restarted" in str(said("registration-lost")[0]["reason"])
    successor.stop()


def test_a_register_without_answer_is_tried_on_a_new_socket(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """Nobody knows whether the kubelet took the first socket: it is closed and given up."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin(timing=replace(TIMING, register=0.2))
    wait_until("a second attempt", lambda: len(sockets_told(kubelet)) >= 2)
    kubelet.misbehaviour.released.set()
    last = wait_for_devices(kubelet, RESOURCE, 2)
    assert "DEADLINE_EXCEEDED" in str(said("refused")[0]["reason"])
    assert every_socket_is_new(kubelet)
    assert sockets(kubelet.folder) == [last.request.endpoint]


def test_a_kubelet_that_ends_within_register_is_waited_for(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """A connection that breaks is no refusal: a kubelet that restarts is no error."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("waiting-for-kubelet")
    assert said("refused") == []


def test_kubelet_replaced_during_register_is_noticed(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A new kubelet is not kept waiting for the answer of the old one."""
    kubelet.misbehaviour.released = threading.Event()
    start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    successor = DeviceManager(kubelet.folder)
    successor.start()
    wait_for_devices(successor, RESOURCE, 2)
    kubelet.misbehaviour.released.set()
    successor.stop()


def test_own_socket_removed_is_made_anew(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """A kubelet can only dial a socket that is there: another one takes its place."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    assert said("registration-lost")[0]["reason"] == "the socket of this plugin was removed"
    assert every_socket_is_new(kubelet)


def test_a_state_folder_that_becomes_unusable_is_waited_for(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said, tmp_path: Path
) -> None:
    """A socket that is lost then takes no thread with it: the next one comes with the folder."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    shutil.rmtree(tmp_path / "sockets")
    (tmp_path / "sockets").touch()
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("word of it", lambda: bool(said("cannot-listen")))
    (tmp_path / "sockets").unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)


def test_a_folder_in_the_place_of_the_own_socket_is_left_there(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """With the record of sockets gone as well, the plugin goes on with another socket."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    shutil.rmtree(tmp_path / "sockets")
    (kubelet.folder / first.request.endpoint).unlink()
    (kubelet.folder / first.request.endpoint).mkdir()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    assert (kubelet.folder / first.request.endpoint).is_dir()


def test_old_stream_ends_before_the_new_socket_is_registered(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Up to 1.36 the end of an old stream counts against the newest socket (#121994)."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    ended: list[bool] = []
    kubelet.misbehaviour.on_register = lambda: ended.append(first.ended.is_set())
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    assert ended == [True]


def test_a_stream_that_the_kubelet_drops_is_followed_by_a_new_registration(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """With kubelet.sock unchanged, as after a rolling update with two plugins (#121994)."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    first.close()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    assert "no longer watches" in str(said("registration-lost")[0]["reason"])


def test_a_foreign_stream_does_not_hide_the_end_of_the_kubelets(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Whoever else watches the list, the kubelet is told again when it stops."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    address = target(kubelet.folder / first.request.endpoint)
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        next(DevicePluginStub(channel).ListAndWatch(Empty()))
        first.close()
        wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)


def test_a_kubelet_that_never_watches_is_told_again(
    kubelet: DeviceManager, start_plugin: StartPlugin, said: Said
) -> None:
    """An accepted registration without a stream shows no device: it is not left at that."""
    kubelet.misbehaviour.never_watches = True
    start_plugin()
    wait_until("a second Register", lambda: len(kubelet.registrations) == 2)
    kubelet.misbehaviour.never_watches = False
    wait_for_devices(kubelet, RESOURCE, 2)
    assert "never asked for its devices" in str(said("registration-lost")[0]["reason"])
    assert every_socket_is_new(kubelet)


def test_a_watching_kubelet_is_kept_though_its_socket_is_gone(
    kubelet: DeviceManager, start_plugin: StartPlugin, wait_for_passes: Callable[[], None]
) -> None:
    """Whoever removed kubelet.sock, the kubelet still has the devices of a stream that lives."""
    start_plugin(timing=RESTLESS)
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.socket.unlink()
    (kubelet.folder / connection.request.endpoint).unlink()
    wait_for_passes()
    assert not connection.ended.is_set()


def test_a_folder_made_anew_is_followed(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """The folder goes with everything in it, and a kubelet makes another."""
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.stop()
    shutil.rmtree(kubelet.folder)
    wait_until("the stream to end", first.ended.is_set)
    kubelet.folder.mkdir()
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)


@pytest.mark.parametrize("kubelet", ["1.37"], indirect=True)
def test_two_plugins_of_a_rolling_update_do_not_disturb_each_other(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The new one registers beside the old one, and stays when that one ends."""
    old = start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    start_plugin()
    wait_until("the second plugin", lambda: len(kubelet.registrations) == 2)
    second = wait_for_devices(kubelet, RESOURCE, 2)
    old.stop()
    assert first.ended.wait(5)
    assert sockets(kubelet.folder) == [second.request.endpoint]
    assert second.devices == first.devices
    assert not second.ended.is_set()


@pytest.mark.parametrize("kubelet", ["1.34", "1.36"], indirect=True)
def test_the_new_plugin_of_a_rolling_update_registers_again(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Up to 1.36 the end of the old one is taken for its own: it notices (#121994)."""
    old = start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    start_plugin()
    wait_until("the second plugin", lambda: len(kubelet.registrations) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)
    old.stop()
    wait_until("a third Register", lambda: len(kubelet.registrations) == 3)
    third = wait_for_devices(kubelet, RESOURCE, 2)
    assert sockets(kubelet.folder) == [third.request.endpoint]
    assert third.devices == first.devices


def test_a_plugin_that_stops_leaves_no_socket(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """Neither a socket nor a record of one is left."""
    plugin = start_plugin()
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    plugin.stop()
    assert connection.ended.wait(5)
    assert sockets(kubelet.folder) == []
    assert list((tmp_path / "sockets").iterdir()) == []


def test_a_plugin_stops_while_the_kubelet_does_not_answer(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A call that hangs does not hold up the end."""
    kubelet.misbehaviour.released = threading.Event()
    plugin = start_plugin()
    wait_until("a Register", lambda: bool(sockets_told(kubelet)))
    plugin.stop()
    kubelet.misbehaviour.released.set()
    assert sockets(kubelet.folder) == []


def test_devices_that_pods_hold_stay_in_the_list(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """A restarted plugin lists all its devices; after a change of the fleet, the new number."""
    plugin = start_plugin(Share("chapter", "chapter-0", 8, resource=RESOURCE))
    before = wait_for_devices(kubelet, RESOURCE, 8)
    plugin.stop()
    start_plugin(Share("chapter", "chapter-0", 10, resource=RESOURCE))
    after = wait_for_devices(kubelet, RESOURCE, 10)
    assert before.devices
    assert after.devices
    assert after.lists == 1
    assert set(before.devices) < set(after.devices)


def test_unrelated_files_cause_nothing(
    kubelet: DeviceManager, start_plugin: StartPlugin, wait_for_passes: Callable[[], None]
) -> None:
    """Files that are neither the kubelet's nor the plugin's do not disturb a registration."""
    start_plugin(timing=RESTLESS)
    connection = wait_for_devices(kubelet, RESOURCE, 2)
    (kubelet.folder / "kubelet_internal_checkpoint").write_text("{}")
    (kubelet.folder / "gpulab-other.sock").touch()
    wait_for_passes()
    assert len(sockets_told(kubelet)) == 1
    assert not connection.ended.is_set()
