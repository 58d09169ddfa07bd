"""Device managers on virtual time, and plugins that are ended with the test."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Read when gRPC is imported: other tests start child processes from this one.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES, Profile
from tests.unit.embedded.plugin import ScriptedPlugin

StartKubelet = Callable[[Settings], DeviceManager]
StartPlugin = Callable[..., ScriptedPlugin]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder for sockets; pytest's own may have too long a path."""
    path = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


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
