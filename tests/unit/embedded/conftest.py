"""Device managers on virtual time, and plugins that are ended with the test."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Read when gRPC is imported: other tests start child processes from this one.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from fake_plugin.api.deviceplugin_pb2 import Device
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES, Profile
from tests.unit.embedded.plugin import RESOURCE, Script, ScriptedPlugin
from tests.unit.waiting import wait_until

StartKubelet = Callable[[Settings], DeviceManager]
StartPlugin = Callable[..., ScriptedPlugin]
Serve = Callable[..., ScriptedPlugin]


@pytest.fixture
def clock() -> VirtualClock:
    """Return a clock that stands still."""
    return VirtualClock()


@pytest.fixture(params=["1.36"])
def profile(request: pytest.FixtureRequest) -> Profile:
    """Return the profile of the version that a test asks for by parameter."""
    return PROFILES[request.param]


@pytest.fixture
def start_kubelet(folder: Path, clock: VirtualClock) -> Iterator[StartKubelet]:
    """Return what starts a kubelet with settings; all are stopped in the end."""
    started: list[DeviceManager] = []

    def start(settings: Settings) -> DeviceManager:
        manager = DeviceManager(folder, settings, clock)
        started.append(manager)
        manager.start()
        return manager

    yield start
    for manager in started:
        manager.stop()


@pytest.fixture
def kubelet(start_kubelet: StartKubelet, profile: Profile) -> DeviceManager:
    """Return a kubelet that runs."""
    return start_kubelet(Settings(profile=profile))


@pytest.fixture
def start_plugin(folder: Path) -> Iterator[StartPlugin]:
    """Return what lets a plugin listen on a socket of that name; all are stopped in the end."""
    started: list[ScriptedPlugin] = []

    def start(name: str = "plugin.sock") -> ScriptedPlugin:
        plugin = ScriptedPlugin(folder, name)
        started.append(plugin)
        return plugin

    yield start
    for plugin in started:
        plugin.stop()


@pytest.fixture
def serve(kubelet: DeviceManager, start_plugin: StartPlugin) -> Serve:
    """Return what lets a plugin register and send a list, which the kubelet then knows."""

    def served(
        *devices: list[Device],
        resource: str = RESOURCE,
        name: str = "plugin.sock",
        script: Script | None = None,
    ) -> ScriptedPlugin:
        plugin = start_plugin(name)
        plugin.script = script or plugin.script
        plugin.register(resource)
        send(kubelet, plugin, *devices)
        return plugin

    return served


def send(kubelet: DeviceManager, plugin: ScriptedPlugin, *devices: list[Device]) -> None:
    """Let a plugin send a list, and wait until the kubelet knows it."""
    client = [each for each in kubelet.registrations if each.path == plugin.path][-1]
    before = client.lists
    plugin.list(*devices)
    wait_until("the list", lambda: client.lists > before)


def lose(kubelet: DeviceManager, plugin: ScriptedPlugin) -> None:
    """Let a plugin die, and wait until the kubelet has drawn its conclusions."""
    plugin.stop()
    wait_for_end(kubelet, plugin)


def wait_for_end(kubelet: DeviceManager, plugin: ScriptedPlugin) -> None:
    """Wait until no stream of a plugin is left."""
    clients = [each for each in kubelet.registrations if each.path == plugin.path]
    wait_until("the ends of streams", lambda: all(each.ended.is_set() for each in clients))


def view(kubelet: DeviceManager, resource: str = RESOURCE) -> tuple[int | None, int | None]:
    """Return capacity and allocatable in the status of the node, None where there is no key."""
    return kubelet.status.capacity.get(resource), kubelet.status.allocatable.get(resource)


def view_after_tick(
    kubelet: DeviceManager, resource: str = RESOURCE
) -> tuple[int | None, int | None]:
    """Return the same, brought up to date."""
    kubelet.tick()
    return view(kubelet, resource)
