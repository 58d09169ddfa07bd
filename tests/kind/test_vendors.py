"""Three vendors' cards on real nodes: what a container gets, and what its tool shows it."""

import json
from collections.abc import Iterator

import pytest

from tests.kind.machine import Lab, Machine, run, wait_until

NAME = "t-vendors"
FLEET = f"""
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - name: hopper
    nodes: 1
    nodeNames: [{NAME}-worker]
    accelerator: nvidia-h100-sxm-80gb
    count: 4
  - name: cut
    nodes: 1
    nodeNames: [{NAME}-worker2]
    accelerator: nvidia-a100-sxm-80gb
    count: 1
    partitions: {{strategy: mixed, layout: [{{devices: [0], profiles: {{1g.10gb: 2}}}}]}}
    answering: {{deviceListStrategy: cdi-cri}}
  - name: annotated
    nodes: 1
    nodeNames: [{NAME}-worker2]
    accelerator: nvidia-l4-24gb
    count: 2
    answering: {{deviceListStrategy: cdi-annotations}}
  - name: amd
    nodes: 1
    nodeNames: [{NAME}-worker2]
    accelerator: amd-mi300x-192gb
    count: 2
  - name: ascend
    nodes: 1
    nodeNames: [{NAME}-worker2]
    accelerator: ascend-910b3-64gb
    count: 2
    alias: huawei.com/ascend-910b
"""
GPU = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a lab with one node of one vendor, and one of three."""
    with machine.lab_of_fleet(NAME, tmp_path_factory.mktemp("vendors"), FLEET) as lab:
        yield lab


@pytest.fixture(autouse=True)
def _sound_afterwards(lab: Lab) -> Iterator[None]:
    """Leave no pod behind, and the hardware sound."""
    yield
    lab.kubectl("delete", "pods", "--all", "--now", "--wait")
    inject(lab, "clear")


def inject(lab: Lab, *arguments: str) -> None:
    """Run `gpulab inject`."""
    ended = lab.machine.gpulab("inject", *arguments, "--name", NAME)
    assert ended.returncode == 0, ended.stderr


def start(lab: Lab, resource: str, worker: str, *, count: int = 1, name: str = "holder") -> None:
    """Start a pod with devices on a worker, and wait until it runs."""
    lab.start_pod(name, {resource: count}, node=f"{NAME}-{worker}")
    lab.wait_for_pod(name)


def devices_of(lab: Lab, name: str = "holder") -> list[str]:
    """Return the units that a pod's container has by its environment."""
    return lab.in_pod(name, "echo $GPULAB_VISIBLE_DEVICES").strip().split(",")


def cdi_devices() -> set[str]:
    """Return the names of the devices that the node's CDI spec defines."""
    spec = run("docker", "exec", f"{NAME}-worker2", "sh", "-c", "cat /var/run/cdi/*.json").stdout
    return {device["name"] for device in json.loads(spec)["devices"]}


@pytest.mark.parametrize(
    ("worker", "resource", "count"),
    [
        ("worker", GPU, "4"),
        ("worker2", "nvidia.com/mig-1g.10gb", "2"),
        ("worker2", GPU, "2"),
        ("worker2", "amd.com/gpu", "2"),
        ("worker2", "huawei.com/ascend-910b", "2"),
    ],
)
def test_each_vendor_offers_its_own_resource(
    lab: Lab, worker: str, resource: str, count: str
) -> None:
    """A partition has a name of its own, and an alias takes the place of the vendor's name."""
    status = lab.get("node", f"{NAME}-{worker}")["status"]
    assert (status["allocatable"].get(resource), status["capacity"].get(resource)) == (count, count)


def test_the_chapters_pod_prints_its_gpu(lab: Lab) -> None:
    """4.4: `nvidia-smi` is the pod's command, and there is nothing in the image but a shell."""
    lab.kubectl("apply", "-f", "examples/nvidia-smi.yaml")
    succeeded = "--for=jsonpath={.status.phase}=Succeeded"
    lab.kubectl("wait", "-f", "examples/nvidia-smi.yaml", succeeded, "--timeout=60s")
    (pod,) = lab.get("pods")["items"]
    printed = lab.kubectl("logs", pod["metadata"]["name"]).stdout
    assert "NVIDIA-SMI" in printed
    assert len([line for line in printed.splitlines() if "%      Default" in line]) == 1


def test_nvidia_smi_shows_the_containers_gpus_and_no_others(lab: Lab) -> None:
    """Two of the node's four, by the UUIDs that the kubelet chose."""
    start(lab, GPU, "worker", count=2)
    listed = lab.in_pod("holder", "nvidia-smi -L").splitlines()
    assert [line.startswith(f"GPU {index}: NVIDIA H100") for index, line in enumerate(listed)] == [
        True,
        True,
    ]
    assert sorted(line.split("UUID: ")[1].rstrip(")") for line in listed) == sorted(devices_of(lab))
    assert lab.in_pod("holder", "echo $NVIDIA_VISIBLE_DEVICES").strip().split(",") == devices_of(
        lab
    )


def test_a_gpu_that_breaks_looks_broken_in_the_container_that_holds_it(lab: Lab) -> None:
    """The container runs on, and its tool shows at once what happened to the hardware."""
    start(lab, GPU, "worker")
    (uuid,) = devices_of(lab)
    csv = "nvidia-smi --query-gpu=uuid,temperature.gpu --format=csv,noheader || true"
    assert "lost" not in lab.in_pod("holder", csv)
    inject(lab, "unhealthy", uuid, "--xid", "79", "--node", f"{NAME}-worker")
    wait_until(lambda: "GPU is lost" in lab.in_pod("holder", csv), "a lost GPU", 10)
    inject(lab, "healthy", uuid, "--node", f"{NAME}-worker")
    wait_until(lambda: "lost" not in lab.in_pod("holder", csv), "a sound GPU", 10)


@pytest.mark.parametrize("resource", ["nvidia.com/mig-1g.10gb", GPU])
def test_a_container_gets_its_devices_through_cdi(lab: Lab, resource: str) -> None:
    """By name in the CRI, or by annotation: containerd puts the device file into the container."""
    start(lab, resource, "worker2")
    (uuid,) = devices_of(lab)
    assert lab.in_pod("holder", "test -c /dev/nvidiactl && echo there") == "there\n"
    assert uuid in lab.in_pod("holder", "nvidia-smi -L")
    assert not lab.in_pod("holder", "echo $NVIDIA_VISIBLE_DEVICES").strip().startswith("GPU-")


def test_a_cdi_spec_follows_the_cards(lab: Lab) -> None:
    """An unplugged card is no longer in the spec of its node; plugged back, it is again."""
    before = cdi_devices()
    inject(lab, "unplug", "annotated/0", "--node", f"{NAME}-worker2")
    wait_until(lambda: len(before - cdi_devices()) == 1, "a spec without the card", 10)
    inject(lab, "plug", "annotated/0", "--node", f"{NAME}-worker2")
    wait_until(lambda: cdi_devices() == before, "a spec with the card", 10)


def test_amd_and_ascend_containers_get_their_files_and_tools(lab: Lab) -> None:
    """Device files under the vendors' names, and a tool that shows one card."""
    start(lab, "amd.com/gpu", "worker2", name="amd")
    start(lab, "huawei.com/ascend-910b", "worker2", name="ascend")
    assert lab.in_pod("amd", "test -c /dev/kfd && ls /dev/dri | wc -l") == "2\n"
    assert len(lab.in_pod("amd", "rocm-smi --showid --json").split('"card')) == 2
    assert "910B3" in lab.in_pod("ascend", "npu-smi info")
    assert "/dev/davinci_manager" in lab.in_pod("ascend", "ls -d /dev/davinci*")


def test_metrics_name_the_pod_that_holds_a_card(lab: Lab) -> None:
    """Through the API server's proxy, as Prometheus' own pod discovery would reach it."""
    start(lab, GPU, "worker")
    (uuid,) = devices_of(lab)
    pods = lab.get("pods", "-n", "kube-system", "-l", "app=fake-gpu-device-plugin")["items"]
    (plugin,) = (each for each in pods if each["spec"]["nodeName"] == f"{NAME}-worker")
    path = f"/api/v1/namespaces/kube-system/pods/{plugin['metadata']['name']}:9441/proxy/metrics"

    def samples() -> list[str]:
        lines = lab.kubectl("get", "--raw", path).stdout.splitlines()
        return [line for line in lines if 'pod="holder"' in line and uuid in line]

    wait_until(lambda: bool(samples()), "a sample with the pod's name", 10)
    names = {line.partition("{")[0] for line in samples()}
    assert {"DCGM_FI_DEV_GPU_UTIL", "accel_utilization_ratio"} <= names
