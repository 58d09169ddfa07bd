"""A registration is kept or made again, over all that may happen to sockets and streams."""

import shutil
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from fake_plugin.api.deviceplugin_pb2 import Empty
from fake_plugin.api.deviceplugin_pb2_grpc import DevicePluginStub
from fake_plugin.serving.listener import target
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, RESTLESS, Said, StartPlugin
from tests.unit.fake_plugin.kubelet import (
    CHANNEL_OPTIONS,
    every_socket_is_new,
    plugin_sockets,
    sockets_told,
    wait_for_devices,
    wait_until,
)


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
    assert plugin_sockets(kubelet.folder) == [last.request.endpoint]
    assert every_socket_is_new(kubelet)


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


def test_a_removed_socket_is_noticed_without_inotify(
    kubelet: DeviceManager, start_plugin: StartPlugin, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    """Where the system reports no changes, the plugin looks often enough by itself."""
    monkeypatch.setattr("fake_plugin.serving.watch.INotify", _no_inotify)
    start_plugin()
    first = wait_for_devices(kubelet, RESOURCE, 2)
    (kubelet.folder / first.request.endpoint).unlink()
    wait_until("another Register", lambda: len(kubelet.registrations) == 2)
    assert [facts["reason"] for facts in said("watch-missing")] == ["no inotify here"]


def _no_inotify() -> None:
    raise OSError("no inotify here")


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
    # The plugin may remove its socket first: it has lost the stream.
    shutil.rmtree(kubelet.folder, ignore_errors=True)
    assert not kubelet.folder.exists()
    wait_until("the stream to end", first.ended.is_set)
    kubelet.folder.mkdir()
    kubelet.start()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)


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
