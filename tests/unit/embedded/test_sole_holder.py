"""Whatever happens in whatever order, no device is ever given to two containers at once."""

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from fake_plugin.api.deviceplugin_pb2 import DevicePluginOptions
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.containers import ContainerRecord
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container, Kind
from lab.embedded.kubelet.topology import Policy
from lab.embedded.profile import PROFILES
from tests.unit.embedded.conftest import lose
from tests.unit.embedded.plugin import RESOURCE, Script, ScriptedPlugin, healthy, unhealthy
from tests.unit.embedded.pods import pod_with
from tests.unit.waiting import wait_until

DEVICES = "abcdef"
COUNTS = st.integers(0, 3)
#: An init container, a sidecar and two app containers need so many; a pod has at least one of them.
WISHES = st.tuples(COUNTS, COUNTS, COUNTS, COUNTS).filter(any)


class Events(RuleBasedStateMachine):
    """A node with up to two plugins of one resource, pods that come and go, and restarts."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="gp-", dir="/tmp"))
        self.clock = VirtualClock()
        self.names = itertools.count()
        self.plugins: list[ScriptedPlugin] = []
        self.kubelet = DeviceManager(self.folder)

    @initialize(
        version=st.sampled_from(sorted(PROFILES)),
        policy=st.sampled_from(Policy),
        seed=st.integers(0, 1000),
    )
    def start(self, version: str, policy: Policy, seed: int) -> None:
        """Start a kubelet of some version with some policy."""
        set_up = Settings(PROFILES[version], policy, numa_nodes=(0, 1), seed=seed)
        self.kubelet = DeviceManager(self.folder, set_up, self.clock)
        self.kubelet.start()

    @precondition(lambda self: len(self.plugins) < 2)
    @rule(prefers=st.booleans(), well=st.sets(st.sampled_from(DEVICES)))
    def start_plugin(self, well: set[str], *, prefers: bool) -> None:
        """Let a plugin register and list its devices."""
        plugin = ScriptedPlugin(self.folder, f"{next(self.names)}.sock")
        plugin.script = Script(
            options=DevicePluginOptions(get_preferred_allocation_available=prefers),
            prefer=lambda request: list(request.container_requests[0].available_deviceIDs)[:2],
        )
        plugin.register()
        self.plugins.append(plugin)
        self.list_devices(well)

    @precondition(lambda self: self.plugins)
    @rule(well=st.sets(st.sampled_from(DEVICES)), gone=st.sets(st.sampled_from(DEVICES)))
    def change(self, well: set[str], gone: set[str]) -> None:
        """Let devices break, recover, go and come back."""
        client = self.kubelet.registrations[-1]
        if not client.ended.is_set():
            self.list_devices(well, gone)

    def list_devices(self, well: set[str], gone: set[str] | None = None) -> None:
        """Send a list, half of the devices on each NUMA node."""
        parts = (
            (healthy if each in well else unhealthy)(each)
            for each in DEVICES
            if each not in (gone or ())
        )
        devices = [device for part in parts for device in part]
        for device in devices:
            device.topology.nodes.add(ID=DEVICES.index(device.ID) % 2)
        plugin = self.plugins[-1]
        client = [each for each in self.kubelet.registrations if each.path == plugin.path][-1]
        before = client.lists
        plugin.list(devices)
        # Up to 1.36 the end of an older plugin is that of the newest one's stream, a moment later.
        wait_until("the list", lambda: client.lists > before or client.ended.is_set())

    @precondition(lambda self: self.plugins)
    @rule(first=st.booleans())
    def end_plugin(self, *, first: bool) -> None:
        """Let the older or the newer plugin die."""
        lose(self.kubelet, self.plugins.pop(0 if first else -1))

    @rule(wishes=WISHES)
    def admit(self, wishes: tuple[int, int, int, int]) -> None:
        """Let a pod come."""
        kinds = (Kind.INIT, Kind.SIDECAR, Kind.APP, Kind.APP)
        containers = [
            Container(f"c{number}", {RESOURCE: count}, kind)
            for number, (kind, count) in enumerate(zip(kinds, wishes, strict=True))
            if count
        ]
        self.kubelet.admit(pod_with(str(next(self.names)), *containers))

    @rule(number=st.integers(0, 10))
    def remove(self, number: int) -> None:
        """Let a pod go."""
        for pod in self.kubelet.roster.active()[number : number + 1]:
            self.kubelet.remove(pod.uid)

    @rule(running=st.booleans())
    def restart(self, *, running: bool) -> None:
        """Restart the kubelet, or the whole node; plugins do not come back by themselves."""
        records = [
            ContainerRecord(pod.uid, container.name, running=container.kind is not Kind.INIT)
            for pod in self.kubelet.roster.active()
            for container in pod.containers
        ]
        self.kubelet.restart(records if running else [])
        while self.plugins:
            self.plugins.pop().stop()

    @rule(seconds=st.sampled_from([1, 11, 200, 400]))
    def let_time_pass(self, seconds: int) -> None:
        """Let ticks come, and the time of grace end."""
        self.clock.advance(seconds)

    @invariant()
    def no_device_has_two_holders(self) -> None:
        """Look at what all pods hold that are not over."""
        seen: set[str] = set()
        for held in self.held_for_good():
            assert not seen & held
            seen |= held

    @invariant()
    def what_the_node_says_is_possible(self) -> None:
        """No figure is below 0, and none of allocatable above its capacity."""
        status = self.kubelet.status
        for resource, number in status.allocatable.items():
            assert 0 <= number <= status.capacity[resource]

    def held_for_good(self) -> Iterator[set[str]]:
        """Yield what each container holds; init containers that are over share with others."""
        for pod in self.kubelet.roster.active():
            kept: set[str] = set()
            for container in pod.of_kinds(Kind.SIDECAR, Kind.APP):
                held = set(self.kubelet.devices(pod.uid, container.name).get(RESOURCE, ()))
                kept |= held
                yield held
            for container in pod.of_kinds(Kind.INIT):
                yield set(self.kubelet.devices(pod.uid, container.name).get(RESOURCE, ())) - kept

    def teardown(self) -> None:
        """End everything."""
        self.kubelet.stop()
        for plugin in self.plugins:
            plugin.stop()
        shutil.rmtree(self.folder)


def test_no_device_has_two_holders_at_any_time() -> None:
    """Two hundred events and more, on every version and policy."""
    run_state_machine_as_test(Events, settings=settings(max_examples=12, stateful_step_count=30))
