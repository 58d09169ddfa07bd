"""What a node says of devices while their plugin is away, for seconds or for good.

Minutes take a virtual clock no time. Numbers are those of Kubernetes' own tracker.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_plugin.plan import Share
from fake_plugin.plugin import Plugin
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Pod
from lab.embedded.profile import PROFILES
from tests.unit.embedded.conftest import view, view_after_tick
from tests.unit.embedded.pods import pod_of, refused
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices

FOUR = Share("chapter", "chapter-0", 4, resource=RESOURCE)
#: As long as a node's status may be late.
TICK = 10.4


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock that stands still."""
    return VirtualClock()


@pytest.fixture(params=["1.34", "1.36", "1.37"])
def kubelet(
    folder: Path, clock: VirtualClock, request: pytest.FixtureRequest
) -> Iterator[DeviceManager]:
    """Return a kubelet of each version that differs."""
    kubelet = DeviceManager(folder, Settings(profile=PROFILES[request.param]), clock)
    kubelet.start()
    yield kubelet
    kubelet.stop()


def device_pod(uid: str) -> Pod:
    """Return a pod that needs one device."""
    return pod_of(uid, 1, RESOURCE)


def stop(kubelet: DeviceManager, plugin: Plugin) -> None:
    """Stop a plugin, and wait until the kubelet has seen it."""
    client = wait_for_devices(kubelet, RESOURCE, 4)
    plugin.stop()
    assert client.ended.wait(10)


def test_a_resource_stays_when_its_plugin_is_deleted(
    kubelet: DeviceManager, start_plugin: StartPlugin, clock: VirtualClock
) -> None:
    """With 0, over restarts too, until it is patched away (#52510, #92396, #114422, #115190)."""
    stop(kubelet, start_plugin(FOUR))
    seen = []
    for seconds in (TICK, 50, 300):
        clock.advance(seconds)
        seen.append(view(kubelet, RESOURCE))
    assert seen == [(4, 0), (4, 0), (0, 0)]
    kubelet.restart()
    clock.advance(360)
    assert view(kubelet, RESOURCE) == (0, 0)
    del kubelet.status.capacity[RESOURCE]
    assert view_after_tick(kubelet, RESOURCE) == (None, None)


@pytest.mark.parametrize(("seconds", "capacity"), [(30, 4), (330, 0)])
def test_pods_outlast_the_absence_of_their_plugin(
    kubelet: DeviceManager,
    start_plugin: StartPlugin,
    clock: VirtualClock,
    seconds: float,
    capacity: int,
) -> None:
    """Those that run keep their devices, new ones are refused (#60176, #99571, #60856)."""
    plugin = start_plugin(FOUR)
    wait_for_devices(kubelet, RESOURCE, 4)
    assert [kubelet.admit(device_pod(uid)) for uid in "uv"] == [None, None]
    held = [kubelet.devices(uid, "app") for uid in "uv"]
    stop(kubelet, plugin)
    clock.advance(seconds)
    assert view(kubelet, RESOURCE) == (capacity, 0)
    assert kubelet.admit(device_pod("w"))
    start_plugin(FOUR)
    wait_for_devices(kubelet, RESOURCE, 4)
    assert view_after_tick(kubelet, RESOURCE) == (4, 4)
    assert [pod.uid for pod in kubelet.roster.active()] == ["u", "v"]
    assert [kubelet.devices(uid, "app") for uid in "uv"] == held


def test_what_is_said_to_a_new_pod_meanwhile(
    kubelet: DeviceManager, start_plugin: StartPlugin, clock: VirtualClock
) -> None:
    """There are devices, and none of them is healthy (#60176)."""
    stop(kubelet, start_plugin(FOUR))
    clock.advance(30)
    words = refused(kubelet, device_pod("w"))
    assert words.startswith("no healthy devices present; cannot allocate unhealthy devices")


def test_without_a_checkpoint_a_pod_runs_without_its_marker(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """Admitted again before any plugin registered, it has no device (#116125, #109595)."""
    plugin = start_plugin(FOUR)
    wait_for_devices(kubelet, RESOURCE, 4)
    pod = device_pod("u")
    assert kubelet.admit(pod) is None
    assert "GPULAB_VISIBLE_DEVICES" in kubelet.start_container(pod, pod.containers[0]).envs
    stop(kubelet, plugin)
    kubelet.stop()
    (kubelet.folder / "kubelet_internal_checkpoint").unlink()
    assert kubelet.start() == {}
    assert [each.uid for each in kubelet.roster.active()] == ["u"]
    assert kubelet.start_container(pod, pod.containers[0]).envs == {}
