"""Whatever happens in whatever order, in the end the kubelet has all devices of the plugin."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import sampled_from

from fake_plugin.config import Config
from fake_plugin.plan import Plan, Share
from fake_plugin.plugin import Plugin
from lab.embedded.clock import RealClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.profile import PROFILES
from tests.unit.fake_plugin.conftest import RESOURCE, SPEED, TIMING
from tests.unit.fake_plugin.kubelet import sockets_told, wait_until

DEVICES = 3


class Sequences(RuleBasedStateMachine):
    """A kubelet and a plugin on one folder, each started and stopped, and files removed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
        self.state_dir = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
        self.kubelet = DeviceManager(self.folder)
        self.plugin: Plugin | None = None
        self.kubelet_runs = False
        self.ids: set[str] = set()

    @initialize(version=sampled_from(["1.36", "1.37"]))
    def choose_version(self, version: str) -> None:
        """Let the kubelet be of a version that takes one plugin, or any number of them."""
        settings = Settings(profile=PROFILES[version])
        self.kubelet = DeviceManager(self.folder, settings, RealClock(SPEED))

    @precondition(lambda self: not self.kubelet_runs)
    @rule()
    def start_kubelet(self) -> None:
        """Start a kubelet, which removes all sockets."""
        self.kubelet.start()
        self.kubelet_runs = True

    @precondition(lambda self: self.kubelet_runs)
    @rule()
    def stop_kubelet(self) -> None:
        """Kill the kubelet."""
        self.kubelet.stop()
        self.kubelet_runs = False

    @precondition(lambda self: self.kubelet_runs)
    @rule()
    def restart_kubelet(self) -> None:
        """Restart the kubelet."""
        self.kubelet.restart()

    @precondition(lambda self: self.plugin is None)
    @rule()
    def start_plugin(self) -> None:
        """Start a plugin."""
        config = Config(Path("not-read"), "worker", self.folder, self.state_dir, None)
        share = Share("chapter", "chapter-0", DEVICES, resource=RESOURCE)
        self.plugin = Plugin(config, Plan((share,)), TIMING)
        self.plugin.start()

    @precondition(lambda self: self.plugin)
    @rule()
    def stop_plugin(self) -> None:
        """Stop the plugin: nothing of it is left."""
        assert self.plugin
        self.plugin.stop()
        self.plugin = None
        assert list(self.folder.glob("gpulab-*")) == []
        assert list((self.state_dir / "sockets").iterdir()) == []

    @rule()
    def remove_sockets_of_plugins(self) -> None:
        """Remove the plugin's socket."""
        for path in self.folder.glob("gpulab-*"):
            path.unlink(missing_ok=True)

    @rule()
    def drop_stream(self) -> None:
        """Break the newest connection of the kubelet, where it has one."""
        for connection in self.kubelet.registrations[-1:]:
            connection.close()

    @rule()
    def make_a_file(self) -> None:
        """Write what is none of the plugin's business."""
        (self.folder / "kubelet_internal_checkpoint").write_text("{}")

    @precondition(lambda self: self.plugin and self.kubelet_runs)
    @rule()
    def settle(self) -> None:
        """Leave both alone: the kubelet has all devices, the same as ever, on a socket in place."""

        def whole() -> bool:
            there = [path.name for path in self.folder.glob("gpulab-*")]
            newest = self.kubelet.registrations[-1:]
            return self.kubelet.known.allocatable.get(RESOURCE) == DEVICES and any(
                not each.ended.is_set() and each.lists and there == [each.request.endpoint]
                for each in newest
            )

        wait_until("the newest registration to stand", whole)
        devices = set(self.kubelet.registrations[-1].devices or ())
        self.ids = self.ids or devices
        assert devices == self.ids
        assert len(devices) == DEVICES

    @invariant()
    def no_socket_is_registered_twice(self) -> None:
        """Hold to what a kubelet of version 1.37 needs."""
        told = sockets_told(self.kubelet)
        assert len(set(told)) == len(told)

    def teardown(self) -> None:
        """Settle where that can be, then end everything."""
        try:
            if self.plugin and self.kubelet_runs:
                self.settle()
        finally:
            if self.plugin:
                self.plugin.stop()
            self.kubelet.stop()
            shutil.rmtree(self.folder)
            shutil.rmtree(self.state_dir)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(max_examples=25, stateful_step_count=12)
