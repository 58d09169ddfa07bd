"""What a container starts with, and how a plugin is told of it.

Source: devicemanager/manager.go:GetDeviceRunContainerOptions, pod_devices.go.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from fake_plugin.api.deviceplugin_pb2 import (
    AllocateResponse,
    CDIDevice,
    ContainerAllocateResponse,
    DevicePluginOptions,
    DeviceSpec,
    Mount,
    PreStartContainerRequest,
)
from lab.embedded.clock import VirtualClock
from lab.embedded.kubelet.container_start import ContainerConfigError
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.run_options import RunOptions
from tests.unit.embedded.conftest import Serve, lose, send
from tests.unit.embedded.plugin import RESOURCE, Script, healthy, unhealthy
from tests.unit.embedded.pods import devices_of, pod_of, pod_with
from tests.unit.waiting import wait_until

ANNOUNCED = DevicePluginOptions(pre_start_required=True)


def answering(response: ContainerAllocateResponse) -> Script:
    """Return the script of a plugin that always gives this answer."""
    return Script(allocate=lambda _: AllocateResponse(container_responses=[response]))


def start(kubelet: DeviceManager, pod: Pod) -> RunOptions:
    """Start the first container of a pod."""
    return kubelet.start_container(pod, pod.containers[0])


def problem_of(kubelet: DeviceManager, pod: Pod) -> str:
    """Return why the first container of a pod does not start."""
    with pytest.raises(ContainerConfigError) as caught:
        start(kubelet, pod)
    return str(caught.value)


def test_an_answer_is_handed_on_whole(kubelet: DeviceManager, serve: Serve) -> None:
    """Variables, device files, mounts, annotations and CDI names."""
    device = DeviceSpec(container_path="/dev/x", host_path="/dev/x0", permissions="rw")
    mount = Mount(container_path="/lib/x", host_path="/opt/x", read_only=True)
    response = ContainerAllocateResponse(
        envs={"A": "1"},
        devices=[device],
        mounts=[mount],
        annotations={"k": "v"},
        cdi_devices=[CDIDevice(name="example.com/x=0"), CDIDevice(name="example.com/x=0")],
    )
    serve(healthy("a"), script=answering(response))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    assert start(kubelet, pod) == RunOptions(
        envs={"A": "1"},
        devices={"/dev/x": device},
        mounts={"/lib/x": mount},
        annotations={"k": "v"},
        cdi_devices=("example.com/x=0",),
    )


def test_of_two_resources_with_one_name_the_first_counts(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """And which is the first is random, as the order of Go's maps."""
    for letter in "ab":
        response = ContainerAllocateResponse(envs={"WHO": letter, letter: "1"})
        script = answering(response)
        serve(healthy("1"), resource=f"{letter}.com/x", name=f"{letter}.sock", script=script)
    pod = pod_with("u", Container("app", {"a.com/x": 1, "b.com/x": 1}))
    kubelet.admit(pod)
    seen = {start(kubelet, pod).envs["WHO"] for _ in range(50)}
    assert seen == {"a", "b"}
    assert start(kubelet, pod).envs.keys() == {"WHO", "a", "b"}


def test_a_container_without_devices_starts_with_nothing(kubelet: DeviceManager) -> None:
    """So does one whose resource nobody serves."""
    assert start(kubelet, pod_with("u", Container("app", {}))) == RunOptions()
    assert start(kubelet, pod_of("v", 1)) == RunOptions()


def test_a_restarted_container_keeps_what_it_has(kubelet: DeviceManager, serve: Serve) -> None:
    """Be the device broken, or its plugin gone: nothing is asked and nothing looked at."""
    plugin = serve(healthy("a"))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    before = start(kubelet, pod)
    send(kubelet, plugin, unhealthy("a"))
    assert start(kubelet, pod) == before
    lose(kubelet, plugin)
    assert start(kubelet, pod) == before
    assert len(kubelet.journal.calls("Allocate")) == 1


def test_after_the_time_of_grace_a_restarted_container_waits(
    kubelet: DeviceManager, serve: Serve, clock: VirtualClock
) -> None:
    """Held devices make the resource a plugin's still, and there is none."""
    plugin = serve(healthy("a"))
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    lose(kubelet, plugin)
    clock.advance(330)
    assert problem_of(kubelet, pod) == (
        f"endpoint not found in cache for a registered resource: {RESOURCE}"
    )


class TestPreStart:
    """PreStartContainer, for plugins that want it."""

    @pytest.fixture
    def pod(self, kubelet: DeviceManager, serve: Serve) -> Pod:
        """Return a pod that was admitted, whose plugin is to be told of its containers."""
        self.plugin = serve(healthy("a"), script=Script(options=ANNOUNCED))
        pod = pod_of("u", 1)
        kubelet.admit(pod)
        return pod

    def test_it_is_called_at_every_start(self, kubelet: DeviceManager, pod: Pod) -> None:
        """With the devices of the container."""
        start(kubelet, pod)
        start(kubelet, pod)
        calls = kubelet.journal.calls("PreStartContainer")
        assert [call.request for call in calls] == [PreStartContainerRequest(devices_ids=["a"])] * 2

    def test_it_is_not_called_without_the_option(
        self, kubelet: DeviceManager, serve: Serve
    ) -> None:
        """The default of a plugin."""
        serve(healthy("a"))
        pod = pod_of("u", 1)
        kubelet.admit(pod)
        start(kubelet, pod)
        assert not kubelet.journal.calls("PreStartContainer")

    def test_an_error_keeps_the_container_waiting(self, kubelet: DeviceManager, pod: Pod) -> None:
        """Until a later try succeeds; the pod keeps its device."""
        self.plugin.script.pre_start = lambda _: "cannot reset"
        assert problem_of(kubelet, pod) == (
            "device plugin PreStartContainer rpc failed with err: "
            "rpc error: code = Unknown desc = cannot reset"
        )
        self.plugin.script.pre_start = lambda _: ""
        assert start(kubelet, pod).envs == {"DEVICES": "a"}

    def test_it_has_thirty_seconds(
        self, kubelet: DeviceManager, pod: Pod, clock: VirtualClock
    ) -> None:
        """The only call of a plugin with a limit of its own."""
        answer = threading.Event()
        self.plugin.script.pre_start = lambda _: "" if answer.wait() else "never"
        with ThreadPoolExecutor(1) as aside:
            words = aside.submit(problem_of, kubelet, pod)
            wait_until("a limit", lambda: 30 in clock.pending())
            clock.advance(29.9)
            assert not words.done()
            clock.advance(0.2)
            assert words.result(10) == (
                "device plugin PreStartContainer rpc failed with err: "
                "rpc error: code = DeadlineExceeded desc = context deadline exceeded"
            )
            answer.set()

    def test_a_plugin_that_is_gone_is_not_called(self, kubelet: DeviceManager, pod: Pod) -> None:
        """Within the time of grace the call fails in the kubelet."""
        lose(kubelet, self.plugin)
        words = problem_of(kubelet, pod)
        assert words.startswith("device plugin PreStartContainer rpc failed with err: endpoint ")
        assert words.endswith(" has been stopped")

    def test_a_limit_of_zero_is_not_announced(self, kubelet: DeviceManager, pod: Pod) -> None:
        """Such a container has no devices, and needs none."""
        del pod
        assert start(kubelet, pod_of("v", 0)) == RunOptions()

    def test_it_needs_devices(self, kubelet: DeviceManager, pod: Pod) -> None:
        """A container that was admitted before there was a plugin has none."""
        del pod
        assert problem_of(kubelet, pod_of("v", 1)) == (
            "no devices found allocated in local cache for pod v, container app, "
            f"resource {RESOURCE}"
        )


def test_a_container_that_got_nothing_is_given_devices_at_its_start(
    kubelet: DeviceManager, serve: Serve
) -> None:
    """It was admitted before the plugin was known, and starts after it (a race at restarts)."""
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    serve(healthy("a"))
    assert start(kubelet, pod).envs == {"DEVICES": "a"}
    assert devices_of(kubelet, "u") == {"a"}


def test_where_that_fails_the_container_waits(kubelet: DeviceManager, serve: Serve) -> None:
    """With the words of the allocation alone."""
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    serve(unhealthy("a"))
    assert problem_of(kubelet, pod) == (
        f"no healthy devices present; cannot allocate unhealthy devices {RESOURCE}"
    )


def test_a_pod_that_is_over_is_given_nothing(kubelet: DeviceManager, serve: Serve) -> None:
    """A container that starts late, when its pod is deleted already."""
    pod = pod_of("u", 1)
    kubelet.admit(pod)
    kubelet.remove("u")
    serve(healthy("a"))
    assert start(kubelet, pod) == RunOptions()
