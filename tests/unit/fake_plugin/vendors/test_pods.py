"""What pods get of the vendors' devices, through a kubelet and over the plugin's sockets."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plan import Share, Sharing
from lab.embedded.clock import RealClock
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.node import Settings
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.run_options import RunOptions
from lab.embedded.kubelet.topology import Policy
from tests.unit.fake_plugin.conftest import SPEED, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices, wait_until
from tests.unit.fake_plugin.vendors.pools import ASCEND, H100, MI300X, answering, cut, pool

GPU = "nvidia.com/gpu"
#: As issue kubernetes/kubernetes#136431 has it.
TWO_NODES = pool(H100, 4, numa=(0, 0, 1, 1))


def pod(uid: str, **limits: int) -> Pod:
    """Return a pod with one container; limits are of `nvidia.com/<name>`, with - for _."""
    named = {f"nvidia.com/{key.replace('_', '-')}": value for key, value in limits.items()}
    return Pod(uid, uid, (Container("app", named),))


def run(kubelet: DeviceManager, pod: Pod) -> RunOptions:
    """Return what the container of an admitted pod starts with."""
    assert kubelet.admit(pod) is None
    return kubelet.start_container(pod, pod.containers[0])


@contextmanager
def aligning(folder: Path, policy: Policy) -> Iterator[DeviceManager]:
    """Return a kubelet on a machine with two NUMA nodes."""
    settings = Settings(policy=policy, numa_nodes=(0, 1))
    kubelet = DeviceManager(folder, settings, RealClock(SPEED))
    kubelet.start()
    yield kubelet
    kubelet.stop()


@pytest.mark.parametrize(
    ("share", "resource", "program"),
    [
        (pool(H100), GPU, "/usr/bin/nvidia-smi"),
        (pool(MI300X), "amd.com/gpu", "/usr/bin/rocm-smi"),
        (pool(ASCEND), "huawei.com/Ascend910", "/usr/bin/npu-smi"),
    ],
)
def test_a_container_gets_its_vendors_tool(
    kubelet: DeviceManager,
    start_plugin: StartPlugin,
    share: Share,
    resource: str,
    program: str,
) -> None:
    """Everything that is mounted is on the node, and the table behind the tool is written."""
    start_plugin(share)
    wait_for_devices(kubelet, resource, 2)
    options = run(kubelet, Pod("u", "u", (Container("app", {resource: 1}),)))
    assert {mount.read_only for mount in options.mounts.values()} == {True}
    assert Path(options.mounts[program].host_path).stat().st_mode & 0o111
    table = Path(options.mounts["/run/gpu-lab"].host_path) / "units"
    wait_until("the table", table.exists)
    assert options.envs["GPULAB_VISIBLE_DEVICES"] in table.read_text()


def test_plain_devices_come_without_tools(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """Nothing is installed for them either."""
    start_plugin(Share("p", "p-0", 1, resource=GPU))
    wait_for_devices(kubelet, GPU, 1)
    assert not run(kubelet, pod("u", gpu=1)).mounts
    assert not (tmp_path / "tools").exists()


def test_a_pod_with_several_replicas_is_rejected(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The text of NVIDIA's plugin is in the pod's status, and the replicas stay free."""
    sharing = Sharing("time-slicing", 4, fail_above_one=True)
    start_plugin(pool(H100, 1, sharing=sharing))
    wait_for_devices(kubelet, GPU, 4)
    rejection = kubelet.admit(pod("two", gpu=2))
    assert rejection
    assert rejection.reason == "UnexpectedAdmissionError"
    assert (
        'desc = invalid allocation request for "nvidia.com/gpu": invalid request: maximum request '
        "size for shared resources is 1; found 2, which is unexpected" in rejection.message
    )
    assert [kubelet.admit(pod(f"one-{number}", gpu=1)) for number in range(4)] == [None] * 4


def test_two_gpus_come_from_one_numa_node(folder: Path, start_plugin: StartPlugin) -> None:
    """One of node 0 is taken, so both are of node 1, though the other has a lower number."""
    with aligning(folder, Policy.BEST_EFFORT) as kubelet:
        plugin = start_plugin(TWO_NODES)
        gpus = [device.id for device in plugin.inventory.resources[0].devices]
        wait_for_devices(kubelet, GPU, 4)
        assert run(kubelet, pod("one", gpu=1)).envs["NVIDIA_VISIBLE_DEVICES"] == gpus[0]
        both = run(kubelet, pod("two", gpu=2)).envs["NVIDIA_VISIBLE_DEVICES"]
        assert set(both.split(",")) == set(gpus[2:])


def test_a_lost_gpu_spoils_no_choice(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """NVIDIA/k8s-device-plugin#231: there, no pod starts any more once a GPU is lost."""
    plugin = start_plugin(TWO_NODES)
    gpus = [device.id for device in plugin.inventory.resources[0].devices]
    wait_for_devices(kubelet, GPU, 4)
    plugin.inventory.board.break_units([gpus[0]], Breakage("xid", "79"))
    wait_for_devices(kubelet, GPU, 3)
    given = run(kubelet, pod("three", gpu=3)).envs["NVIDIA_VISIBLE_DEVICES"]
    assert set(given.split(",")) == set(gpus[1:])


def test_three_gpus_fit_on_no_numa_node(folder: Path, start_plugin: StartPlugin) -> None:
    """The policy is the kubelet's, the topology that of the fleet; rejection is final."""
    with aligning(folder, Policy.SINGLE_NUMA_NODE) as kubelet:
        start_plugin(TWO_NODES)
        wait_for_devices(kubelet, GPU, 4)
        rejection = kubelet.admit(pod("three", gpu=3))
        assert rejection
        assert rejection.reason == "TopologyAffinityError"


def test_gpus_without_a_topology_are_aligned_with_nothing(
    folder: Path, start_plugin: StartPlugin
) -> None:
    """Where the fleet does not say where they are, no policy stands in the way."""
    with aligning(folder, Policy.SINGLE_NUMA_NODE) as kubelet:
        start_plugin(pool(H100, 4))
        wait_for_devices(kubelet, GPU, 4)
        assert kubelet.admit(pod("three", gpu=3)) is None


def test_two_kinds_of_mig_devices_in_one_container(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path
) -> None:
    """NVIDIA/k8s-device-plugin#257: one variable has either of the two; CDI and ours have both."""
    parts = cut("mixed", {0: ("1g.10gb", "2g.20gb")})
    share = pool(H100, 1, partitions=parts, answering=answering("envvar", "cdi-cri"))
    plugin = start_plugin(share, cdi_dir=tmp_path / "cdi")
    limits = {"nvidia.com/mig-1g.10gb": 1, "nvidia.com/mig-2g.20gb": 1}
    for name in limits:
        wait_for_devices(kubelet, name, 1)
    small, large = (each.devices[0].id for each in plugin.inventory.resources)
    options = run(kubelet, Pod("u", "u", (Container("app", limits),)))
    assert options.envs["NVIDIA_VISIBLE_DEVICES"] in (small, large)
    assert options.envs["GPULAB_VISIBLE_DEVICES_NVIDIA_COM_MIG_1G_10GB"] == small
    assert options.envs["GPULAB_VISIBLE_DEVICES_NVIDIA_COM_MIG_2G_20GB"] == large
    kind = "k8s.device-plugin.nvidia.com/gpu="
    assert set(options.cdi_devices) == {kind + small, kind + large}


@pytest.mark.parametrize(
    ("share", "resource", "devices"),
    [
        (pool(H100, 2, pre_start=True), GPU, 2),
        (pool(MI300X, 2, pre_start=True), "amd.com/gpu", 2),
        # Replicas and shares reset the hardware behind them, once.
        (pool(H100, 1, pre_start=True, sharing=Sharing("time-slicing", 2)), GPU, 2),
        (
            pool(H100, 1, pre_start=True, sharing=Sharing("percentage", 100)),
            "tke.cloud.tencent.com/qgpu-core",
            100,
        ),
    ],
)
def test_each_start_of_a_container_resets_its_hardware(
    kubelet: DeviceManager,
    start_plugin: StartPlugin,
    share: Share,
    resource: str,
    devices: int,
) -> None:
    """PreStartContainer is called where the fleet wants it, restarts of the container included."""
    plugin = start_plugin(share)
    wait_for_devices(kubelet, resource, devices)
    whole = Pod("u", "u", (Container("app", {resource: devices}),))
    run(kubelet, whole)
    kubelet.start_container(whole, whole.containers[0])
    units = {device.unit for device in plugin.inventory.resources[0].devices}
    assert plugin.inventory.board.state.resets == dict.fromkeys(units, 2)


def test_no_start_resets_anything_where_the_fleet_does_not_want_it(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The kubelet is told so, and does not ask."""
    plugin = start_plugin(pool(H100))
    wait_for_devices(kubelet, GPU, 2)
    run(kubelet, pod("u", gpu=2))
    assert not plugin.inventory.board.state.resets
    assert not list(kubelet.journal.calls("PreStartContainer"))
