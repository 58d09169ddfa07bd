"""What a real cluster makes of requests for devices: at the API server, the kubelet and a reboot.

Each test is one or more bugs that people have reported in public; their numbers are those of
Kubernetes' own tracker where nothing else is said.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kind.machine import Ended, Lab, Machine, run, wait_until

NAME = "t-requests"
PLAIN, LATE, GPU = "plain.example.com/device", "late.example.com/device", "nvidia.com/gpu"
#: So long after its start the plugin registers: the pods of a node that reboots do not wait for it.
LATE_SECONDS = 20
FLEET = f"""
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - {{name: plain, nodes: 1, nodeNames: [{NAME}-worker], resource: {PLAIN}, count: 8}}
  - {{name: late, nodes: 1, nodeNames: [{NAME}-worker], resource: {LATE}, count: 2}}
  - name: sliced
    nodes: 1
    nodeNames: [{NAME}-worker]
    accelerator: nvidia-h100-sxm-80gb
    count: 1
    sharing: {{strategy: time-slicing, replicas: 4, failRequestsGreaterThanOne: true}}
faults:
  - {{call: Register, resource: {LATE}, delay: {LATE_SECONDS}s}}
"""
CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
MARKER = "echo $GPULAB_VISIBLE_DEVICES"


@pytest.fixture(scope="module")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a lab with one worker that has three resources, one of them late."""
    with machine.lab_of_fleet(NAME, tmp_path_factory.mktemp("requests"), FLEET) as lab:
        yield lab


@pytest.fixture(autouse=True)
def _clean_afterwards(lab: Lab) -> Iterator[None]:
    """Leave no pod behind, and the hardware sound."""
    yield
    lab.kubectl("delete", "deployments,pods", "--all", "--now", "--wait")
    lab.machine.gpulab("inject", "healthy", "--all", "--name", NAME)


def spec_of(resources: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return a pod's spec, with one container that stays."""
    container = {
        "name": "test",
        "image": "busybox:1.36",
        "command": ["sleep", "3600"],
        "resources": resources,
    }
    return {"terminationGracePeriodSeconds": 0, "containers": [container]}


def create(lab: Lab, name: str, spec: dict[str, Any]) -> Ended:
    """Create a pod, and return what `kubectl` says."""
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
    manifest = lab.folder / f"{name}.json"
    manifest.write_text(json.dumps(pod))
    return lab.kubectl("create", "-f", str(manifest), check=False)


def create_deployment(lab: Lab, name: str, limits: dict[str, str]) -> None:
    """Create a Deployment with one such pod, and wait until it runs."""
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec_of({"limits": limits})}
    manifest = lab.folder / f"{name}.json"
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    manifest.write_text(json.dumps(deployment))
    lab.kubectl("create", "-f", str(manifest))
    lab.kubectl("rollout", "status", f"deployment/{name}", "--timeout=60s")


def status(lab: Lab, pod: str) -> Any:  # noqa: ANN401 - an object of the API
    """Return a pod's status."""
    return lab.get("pod", pod)["status"]


def known(lab: Lab, resource: str) -> int:
    """Return how many healthy devices the kubelet has written down."""
    shown = lab.in_worker("sh", "-c", f"cat {CHECKPOINT} || echo null")
    data = (json.loads(shown) or {"Data": {}})["Data"]
    return len((data.get("RegisteredDevices") or {}).get(resource) or ())


def phases(lab: Lab, app: str) -> list[str]:
    """Return the phases of a Deployment's pods, sorted."""
    pods = lab.get("pods", "-l", f"app={app}")["items"]
    return sorted(pod["status"]["phase"] for pod in pods)


@pytest.mark.parametrize(
    ("resources", "verdict"),
    [
        (
            {"requests": {PLAIN: "1"}},
            "resources.limits: Required value: Limit must be set for non overcommitable resources",
        ),
        (
            {"requests": {PLAIN: "1"}, "limits": {PLAIN: "2"}},
            f'resources.requests: Invalid value: "1": must be equal to {PLAIN} limit of 2',
        ),
        (
            {"limits": {PLAIN: "0.5"}},
            f'resources.limits[{PLAIN}]: Invalid value: "500m": must be an integer',
        ),
    ],
    ids=["request-alone", "request-below-limit", "half"],
)
def test_the_api_server_refuses(
    lab: Lab, resources: dict[str, dict[str, str]], verdict: str
) -> None:
    """A limit is needed, equal and whole (#57276): no pod comes of it."""
    created = create(lab, "wrong", spec_of(resources))
    assert created.returncode == 1
    assert f"spec.containers[0].{verdict}" in created.stderr
    assert lab.get("pods")["items"] == []


def test_two_replicas_are_refused_by_the_kubelet(lab: Lab) -> None:
    """The API server and the scheduler let it pass (NVIDIA/k8s-device-plugin#929, #321)."""
    assert create(lab, "two", spec_of({"limits": {GPU: "2"}})).returncode == 0
    wait_until(lambda: status(lab, "two")["phase"] == "Failed", "the pod has failed")
    rejected = status(lab, "two")
    assert rejected["reason"] == "UnexpectedAdmissionError"
    assert "maximum request size for shared resources is 1; found 2" in rejected["message"]


def test_allocatable_is_not_what_is_free(lab: Lab) -> None:
    """Pods take nothing from it, broken devices do (NVIDIA/k8s-device-plugin#58, #213, #452)."""

    def shown() -> Any:  # noqa: ANN401 - JSON
        seen = lab.machine.gpulab("status", "--name", NAME, "--output", "json").stdout
        (worker,) = (each for each in json.loads(seen)["nodes"] if each["name"] == lab.worker)
        return worker["resources"][PLAIN]

    lab.start_pod("three", {PLAIN: 3})
    lab.wait_for_pod("three")
    assert shown() == {"capacity": 8, "allocatable": 8, "requested": 3}
    for device in ("plain/6", "plain/7"):
        lab.machine.gpulab("inject", "unhealthy", device, "--name", NAME)
    seen = {"capacity": 8, "allocatable": 6, "requested": 3}
    wait_until(lambda: shown() == seen, "two devices fewer")


def test_capacity_without_allocatable_is_a_check_that_fails(lab: Lab) -> None:
    """All is broken, or the plugin is gone: both ways to look are told (k8s-device-plugin#452)."""
    for number in range(8):
        lab.machine.gpulab("inject", "unhealthy", f"plain/{number}", "--name", NAME)

    def seen() -> Ended:
        return lab.machine.gpulab("status", "--name", NAME)

    wait_until(lambda: seen().returncode == 1, "the lab is not ready")
    said = seen().stderr
    assert f"gpulab inject list --name {NAME}" in said
    assert f"gpulab logs --name {NAME}" in said


def test_after_a_lost_checkpoint_the_marker_tells_who_has_a_device(lab: Lab) -> None:
    """Two pods run: one from before, and one from before its plugin is back (#116125, #109595)."""
    lab.start_pod("holder", {PLAIN: 1})
    lab.wait_for_pod("holder")
    before = lab.in_pod("holder", MARKER)
    lab.in_worker("systemctl", "stop", "kubelet")
    lab.in_worker("rm", CHECKPOINT)
    lab.in_worker("systemctl", "start", "kubelet")
    assert before.strip()

    def marker() -> str:
        return lab.kubectl("exec", "holder", "--", "sh", "-c", MARKER, check=False).stdout

    # The kubelet lets nobody in before it has seen its pods.
    wait_until(lambda: marker() == before, "the container is what it was")
    assert status(lab, "holder")["containerStatuses"][0]["restartCount"] == 0
    assert known(lab, LATE) == 0
    lab.start_pod("without", {LATE: 1})
    lab.wait_for_pod("without")
    assert lab.in_pod("without", MARKER) == "\n"


def test_a_pod_of_an_unknown_resource_runs_without_a_device(lab: Lab) -> None:
    """Bound to the node by hand, nobody asks for one (#116125): it runs, and has no marker."""
    spec = spec_of({"limits": {"nobody.example.com/device": "1"}}) | {"nodeName": lab.worker}
    assert create(lab, "bare", spec).returncode == 0
    lab.wait_for_pod("bare")
    assert lab.in_pod("bare", MARKER) == "\n"


def test_a_reboot_costs_a_bare_pod_its_life(lab: Lab) -> None:
    """A Deployment has a new one, and the failed ones stay (#125579, #124934, #119248, #133382)."""
    wait_until(lambda: known(lab, LATE) == 2, "the late devices are registered")
    assert create(lab, "bare", spec_of({"limits": {LATE: "1"}})).returncode == 0
    lab.wait_for_pod("bare")
    create_deployment(lab, "kept", {LATE: "1"})
    run("docker", "restart", lab.worker)
    wait_until(lambda: status(lab, "bare")["phase"] == "Failed", "the bare pod has failed", 120)
    lost = status(lab, "bare")
    assert lost["reason"] == "UnexpectedAdmissionError"
    assert "no healthy devices present; cannot allocate unhealthy devices" in lost["message"]
    wait_until(lambda: phases(lab, "kept") == ["Failed", "Running"], "a new pod runs", 120)
    assert status(lab, "bare")["phase"] == "Failed"
