"""Whatever happens in whatever order, in the end the kubelet has all devices of the plugin."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from fake_plugin.config import Config
from fake_plugin.fleet.plan import Plan, Share
from fake_plugin.plugin import Plugin
from tests.unit.fake_plugin.conftest import RESOURCE, TIMING
from tests.unit.fake_plugin.kubelet import Kubelet, wait_until

DEVICES = 3


class Sequences(RuleBasedStateMachine):
    """A kubelet and a plugin on one folder, each started and stopped, and files removed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
        self.state_dir = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
        self.kubelet = Kubelet(self.folder)
        self.plugin: Plugin | None = None
        self.kubelet_runs = False
        self.ids: set[str] = set()

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
        for connection in self.kubelet.registered[-1:]:
            connection.channel.close()

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
            newest = self.kubelet.registered[-1:]
            return any(
                not each.ended.is_set() and each.lists and there == [each.request.endpoint]
                for each in newest
            )

        wait_until("the newest registration to stand", whole)
        devices = set(self.kubelet.registered[-1].lists[-1])
        self.ids = self.ids or devices
        assert devices == self.ids
        assert len(devices) == DEVICES

    @invariant()
    def no_socket_is_registered_twice(self) -> None:
        """Hold to what a kubelet of version 1.37 needs."""
        endpoints = [request.endpoint for request in self.kubelet.requests]
        assert len(set(endpoints)) == len(endpoints)

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
TestSequences.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
