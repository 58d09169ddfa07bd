"""Pods get the plugin's devices from a kubelet, and keep them over every restart."""

from collections.abc import Iterable

import pytest

from fake_plugin.plan import Share
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Pod
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices


def pod(uid: str, count: int) -> Pod:
    """Return a pod with one container that needs so many devices."""
    return Pod(uid, uid, (Container("app", {RESOURCE: count}),))


def held_by(kubelet: DeviceManager, uid: str) -> frozenset[str]:
    """Return the devices of a pod."""
    return kubelet.devices(uid, "app")[RESOURCE]


def running(*uids: str) -> Iterable[ContainerRecord]:
    """Return what a runtime says of these pods when their containers run."""
    return [ContainerRecord(uid, "app") for uid in uids]


def test_a_container_sees_exactly_its_devices(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """By the variable that is read in pods of the chapter."""
    start_plugin()
    devices = wait_for_devices(kubelet, RESOURCE, 2).devices or {}
    both = pod("u", 2)
    assert kubelet.admit(both) is None
    envs = kubelet.start_container(both, both.containers[0]).envs
    assert set(envs["GPULAB_VISIBLE_DEVICES"].split(",")) == devices.keys()


def test_the_third_pod_of_two_devices_is_refused(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Where a scheduler has let it through."""
    start_plugin()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert kubelet.admit(pod("u", 1)) is None
    assert kubelet.admit(pod("v", 1)) is None
    rejection = kubelet.admit(pod("w", 1))
    assert rejection
    assert rejection.reason == "UnexpectedAdmissionError"
    assert "Requested: 1, Available: 0" in rejection.message


@pytest.mark.parametrize("kubelet", ["1.34", "1.36", "1.37"], indirect=True)
@pytest.mark.parametrize("restarts", ["kubelet", "plugin", "both"])
def test_assignments_outlive_restarts(
    kubelet: DeviceManager, start_plugin: StartPlugin, restarts: str
) -> None:
    """The same device for the pod that runs, the other one for the next."""
    plugin = start_plugin()
    before = wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.admit(pod("u", 1))
    held = held_by(kubelet, "u")
    if restarts != "kubelet":
        plugin.stop()
    if restarts != "plugin":
        assert kubelet.restart(running("u")) == {}
    if restarts != "kubelet":
        start_plugin()
    after = wait_for_devices(kubelet, RESOURCE, 2)
    assert before.devices
    assert after.devices == before.devices
    assert kubelet.admit(pod("v", 1)) is None
    assert held_by(kubelet, "u") == held
    assert held_by(kubelet, "v") == before.devices.keys() - held


def test_a_pod_admitted_before_the_plugin_is_back_fails(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """After a reboot; the next one is well, once the plugin is (#125579)."""
    start_plugin()
    wait_for_devices(kubelet, RESOURCE, 2)
    kubelet.admit(pod("u", 1))
    rejections = kubelet.restart()
    assert "no healthy devices present" in rejections["u"].message
    wait_for_devices(kubelet, RESOURCE, 2)
    assert kubelet.admit(pod("v", 2)) is None


def test_a_container_is_announced_where_the_fleet_says_so(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The kubelet learns of it by the options."""
    start_plugin(Share("chapter", "chapter-0", 2, resource=RESOURCE, pre_start=True))
    wait_for_devices(kubelet, RESOURCE, 2)
    one = pod("u", 1)
    kubelet.admit(one)
    kubelet.start_container(one, one.containers[0])
    (call,) = kubelet.journal.calls("PreStartContainer")
    assert call.error == ""


def test_the_plugins_wish_is_followed(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """It is asked each time, and gives the lowest numbers of a plain pool."""
    start_plugin(Share("chapter", "chapter-0", 8, resource=RESOURCE))
    listed = list(wait_for_devices(kubelet, RESOURCE, 8).devices or ())
    kubelet.admit(pod("u", 3))
    kubelet.admit(pod("v", 2))
    assert held_by(kubelet, "u") == set(listed[:3])
    assert held_by(kubelet, "v") == set(listed[3:5])


def test_many_resources_are_served_by_one_plugin(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Each with its own socket, stream and pods."""
    names = [f"example.com/r{number}" for number in range(64)]
    start_plugin(*(Share(name.partition("/")[2], "worker-0", 1, resource=name) for name in names))
    for name in names:
        wait_for_devices(kubelet, name, 1, seconds=30)
    every = Pod("u", "u", (Container("app", dict.fromkeys(names, 1)),))
    assert kubelet.admit(every) is None
    assert kubelet.devices("u", "app").keys() == {*names}


@pytest.mark.parametrize("count", [20_000, 74_000])
def test_a_list_of_nearly_four_mebibytes_is_taken(
    kubelet: DeviceManager, start_plugin: StartPlugin, count: int
) -> None:
    """What the plugin lets through, the kubelet takes, and gives to pods."""
    start_plugin(Share("chapter", "chapter-0", count, resource=RESOURCE))
    wait_for_devices(kubelet, RESOURCE, count, seconds=60)
    assert kubelet.admit(pod("u", 100)) is None
    kubelet.tick()
    assert kubelet.status.quantities()["capacity"] == {RESOURCE: f"{count // 1000}k"}
