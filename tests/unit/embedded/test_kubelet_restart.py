"""What a restart of the kubelet keeps, and what it takes.

Source: devicemanager/manager.go:Start, readCheckpoint.
"""

import errno
import socket
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.checkpoint import NAME
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device_manager import DeviceManager, KubeletStopped
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container
from tests.unit.embedded.conftest import Serve, StartPlugin, send, view, view_after_tick
from tests.unit.embedded.plugin import RESOURCE, healthy
from tests.unit.embedded.pods import devices_of, init, pod_of, pod_with, refused

NO_HEALTHY = (
    "Allocate failed due to no healthy devices present; "
    f"cannot allocate unhealthy devices {RESOURCE}, which is unexpected"
)


def test_a_killed_kubelet_leaves_its_socket(kubelet: DeviceManager) -> None:
    """Nobody answers there: a connection is refused until the next kubelet listens."""
    kubelet.stop()
    with socket.socket(socket.AF_UNIX) as connection:
        assert connection.connect_ex(str(kubelet.socket)) == errno.ECONNREFUSED
    with pytest.raises(KubeletStopped, match="does not run"):
        kubelet.admit(pod_of("u", 1))


def test_a_kubelet_that_does_not_run_knows_nothing(kubelet: DeviceManager, serve: Serve) -> None:
    """Its node says what it said last."""
    serve(healthy("a"))
    kubelet.tick()
    kubelet.stop()
    kubelet.stop()
    kubelet.tick()
    assert (kubelet.known.capacity, view(kubelet)) == ({}, (1, 1))


def test_a_start_removes_every_socket_and_nothing_else(
    kubelet: DeviceManager, start_plugin: StartPlugin, folder: Path
) -> None:
    """Whatever they are called; files and folders stay, those in folders as well."""
    start_plugin()
    start_plugin("other-name")
    (folder / "file.sock").touch()
    (folder / "sub").mkdir()
    with socket.socket(socket.AF_UNIX) as inner:
        inner.bind(str(folder / "sub" / "x.sock"))
    kubelet.restart()
    names = {path.name for path in folder.iterdir()}
    assert names == {"kubelet.sock", "DEPRECATION", "file.sock", "sub"}
    assert (folder / "sub" / "x.sock").exists()


def test_a_start_keeps_sockets_where_it_is_told_to(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """For plugins that must not go by their own socket alone."""
    plugin = start_plugin()
    kubelet.misbehaviour.keeps_sockets = True
    kubelet.restart()
    assert plugin.path.exists()


def test_streams_end_with_the_kubelet(kubelet: DeviceManager, serve: Serve) -> None:
    """The plugin sees it; the kubelet does not come back by itself."""
    serve(healthy("a"))
    kubelet.stop()
    assert kubelet.registrations[0].ended.is_set()
    kubelet.start()
    assert len(kubelet.journal.calls("ListAndWatch")) == 1


def test_after_a_restart_all_resources_have_zero_devices(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """At the first tick already, until their plugins are back."""
    serve(healthy("a", "b"))
    kubelet.tick()
    kubelet.restart()
    assert view(kubelet) == (0, 0)
    serve(healthy("a", "b"), name="next.sock")
    assert view_after_tick(kubelet) == (2, 2)


def test_a_restart_begins_the_time_of_grace(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """A plugin that stays away is forgotten five minutes later, and not before."""
    serve(healthy("a"))
    clock.advance(1000)
    kubelet.restart()
    clock.advance(299)
    assert kubelet.known.capacity == {RESOURCE: 0}
    clock.advance(12)
    assert kubelet.known.capacity == {}


def test_assignments_outlive_a_restart(kubelet: DeviceManager, serve: Serve) -> None:
    """With the plugin back, each pod has what it had, and starts with the same answer."""
    serve(healthy("a", "b"))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    held = devices_of(kubelet, "u")
    assert kubelet.restart([ContainerRecord("u", "app")]) == {}
    serve(healthy("a", "b"), name="next.sock")
    assert kubelet.admit(pod_of("v", 1)) is None
    assert devices_of(kubelet, "u") == held
    assert devices_of(kubelet, "v") == {"a", "b"} - held
    assert kubelet.start_container(pod, pod.containers[0]).envs == {"DEVICES": "".join(held)}


def test_a_running_container_is_let_in_before_its_plugin_is_back(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """It has its devices already (#118559)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    assert kubelet.restart([ContainerRecord("u", "app")]) == {}
    assert [pod.uid for pod in kubelet.roster.active()] == ["u"]


@pytest.mark.parametrize(
    "records", [[], [ContainerRecord("u", "app", running=False)]], ids=["gone", "exited"]
)
def test_after_a_reboot_a_pod_fails_before_its_plugin_is_back(
    kubelet: DeviceManager, serve: Serve, records: list[ContainerRecord]
) -> None:
    """For good: the order of start is left to chance (#125579, #109595)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    rejections = kubelet.restart(records)
    assert rejections["u"].message == NO_HEALTHY
    assert kubelet.roster.active() == ()


def test_an_exited_init_container_takes_its_running_pod_with_it(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """It is not running, so its devices are asked for again (#138446)."""
    serve(healthy("a"))
    kubelet.admit(pod_with("u", init("init", 1), Container("app", {RESOURCE: 1})))
    records = [ContainerRecord("u", "init", running=False), ContainerRecord("u", "app")]
    assert kubelet.restart(records)["u"].message == NO_HEALTHY


@pytest.mark.parametrize("profile", ["1.34", "1.35", "1.37"], indirect=True)
def test_a_container_that_had_been_restarted_counts_as_running(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """Up to 1.34 only by chance: its exited record may be looked at instead (#135485)."""
    serve(healthy(*map(str, range(20))))
    records = []
    for number in range(20):
        uid = str(number)
        kubelet.admit(pod_of(uid, 1))
        records += [ContainerRecord(uid, "app", running=False), ContainerRecord(uid, "app")]
    rejected = len(kubelet.restart(records))
    by_chance = not kubelet.profile.looks_at_every_container_id
    assert 0 < rejected < 20 if by_chance else rejected == 0


def test_once_started_a_running_container_is_no_excuse(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The runtime's word counts only while the kubelet hears of its pods."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.restart([ContainerRecord("u", "app"), ContainerRecord("v", "app")])
    assert refused(kubelet, pod_of("v", 1)).startswith("no healthy devices present")


def test_pods_deleted_while_the_kubelet_was_away_lose_their_devices(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """The next pod can have them (upstream's orphaned pods)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.stop()
    kubelet.remove("u")
    kubelet.start()
    serve(healthy("a"), name="next.sock")
    assert devices_of(kubelet, "u") == {"a"}
    assert kubelet.admit(pod_of("v", 1)) is None
    assert devices_of(kubelet, "u") == set()


def test_a_pod_that_is_over_is_not_admitted_again(kubelet: DeviceManager, serve: Serve) -> None:
    """It stays what it is, with no plugin to be seen."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.remove("u")
    assert kubelet.restart() == {}


def test_nothing_is_freed_before_all_pods_are_known(kubelet: DeviceManager, serve: Serve) -> None:
    """To admit the pods again takes nothing from those that are not there any more."""
    serve(healthy("a", "b"))
    for uid in ("u", "v"):
        kubelet.admit(pod_of(uid, 1))
    held = devices_of(kubelet, "u")
    kubelet.stop()
    kubelet.remove("u")
    kubelet.start([ContainerRecord("v", "app")])
    assert devices_of(kubelet, "u") == held
    kubelet.admit(pod_of("w", 1))
    assert devices_of(kubelet, "u") == set()


@pytest.mark.parametrize("content", [None, "", "{}", "null", '{"Data":{},"Checksum":1}', "\0"])
def test_without_a_good_checkpoint_a_pod_runs_without_its_device(
    kubelet: DeviceManager, serve: Serve, folder: Path, content: str | None
) -> None:
    """The kubelet goes on with nothing, and knows no such resource (#116125, #102880)."""
    serve(healthy("a"))
    kubelet.admit(pod_of("u", 1))
    kubelet.stop()
    (folder / NAME).unlink()
    if content is not None:
        (folder / NAME).write_text(content)
    assert kubelet.start() == {}
    assert devices_of(kubelet, "u") == set()


def test_a_damaged_checkpoint_is_logged(
    kubelet: DeviceManager, serve: Serve, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In the kubelet's words."""
    serve(healthy("a"))
    path = folder / NAME
    path.write_text(path.read_text().replace('"a"', '"b"'))
    kubelet.restart()
    (record,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert record.getMessage() == (
        "Continue after failing to read checkpoint file: checkpoint is corrupted"
    )


def test_a_plugin_that_comes_late_is_served_as_ever(
    kubelet: DeviceManager, serve: Serve, start_plugin: StartPlugin
) -> None:
    """A restart between two plugins of one name does not confuse their streams."""
    serve(healthy("a"))
    kubelet.restart()
    plugin = start_plugin("late.sock")
    plugin.register()
    send(kubelet, plugin, healthy("a", "b"))
    plugin.list(healthy("b"))
    send(kubelet, plugin, healthy("a"))
    assert view_after_tick(kubelet) == (1, 1)


def test_a_folder_with_a_long_path_is_refused(folder: Path, clock: VirtualClock) -> None:
    """The error says how long, what the limit is, and by how much to shorten."""
    deep = folder / ("d" * (107 - len(str(folder)) - 1))
    kubelet = DeviceManager(deep, clock=clock)
    with pytest.raises(NotReady) as caught:
        kubelet.start()
    assert "a path of 120 bytes; the system's limit is 107" in caught.value.what
    assert "at least 13 bytes shorter" in caught.value.remedy
    assert caught.value.where == str(deep)


@pytest.mark.parametrize("wrong", ["device_plugins", "pod_resources"])
def test_a_file_in_the_place_of_a_folder_is_named(
    folder: Path, clock: VirtualClock, wrong: str
) -> None:
    """And nothing is left running."""
    (folder / "file").touch()
    folders = {
        "device_plugins": folder / "a",
        "pod_resources": folder / "b",
        wrong: folder / "file",
    }
    settings = Settings(pod_resources=folders["pod_resources"])
    kubelet = DeviceManager(folders["device_plugins"], settings, clock)
    with pytest.raises(NotReady, match="the folder for sockets of a kubelet") as caught:
        kubelet.start()
    assert (caught.value.where, caught.value.seen) == (str(folder / "file"), "File exists")
    assert clock.pending() == []
