"""The chapter's sections 4.10.4 to 4.10.7, with the manifests that learners apply."""

import re

import pytest

from tests.kind.machine import Lab

RESOURCE = "fake.example.com/device"
pytestmark = pytest.mark.usefixtures("pods")


@pytest.fixture
def test_pod(lab: Lab) -> str:
    """Return the name of the chapter's pod, running."""
    lab.kubectl("apply", "-f", "examples/gpu-test-pod.yaml")
    lab.kubectl("wait", "pod/gpu-test-pod", "--for=condition=Ready", "--timeout=60s")
    return "gpu-test-pod"


def test_the_worker_offers_two_devices(lab: Lab) -> None:
    """4.10.3: `describe node` lists the resource among what is allocatable."""
    described = lab.kubectl("describe", "node", lab.worker).stdout
    allocatable = described.partition("Allocatable:")[2].partition("System Info:")[0]
    assert re.search(rf"{RESOURCE}:\s+2\n", allocatable)


def test_the_pod_prints_its_line(lab: Lab, test_pod: str) -> None:
    """4.10.4: the pod runs on the node with devices and prints what the chapter promises."""
    assert "我拿到了 GPU 设备" in lab.kubectl("logs", test_pod).stdout
    assert lab.get("pod", test_pod)["spec"]["nodeName"] == lab.worker


def test_the_container_sees_exactly_its_own_device(lab: Lab, test_pod: str) -> None:
    """A container finds one device file of the node's two, and one ID in its environment."""
    found = lab.in_pod(test_pod, "find /dev/gpulab -type c").split()
    assert found in ([f"/dev/gpulab/{RESOURCE}/0"], [f"/dev/gpulab/{RESOURCE}/1"])
    assert lab.in_pod(test_pod, f"echo x > {found[0]} && echo usable") == "usable\n"
    assert re.fullmatch(
        r"fake-[0-9a-f-]{36}\n", lab.in_pod(test_pod, "echo $GPULAB_VISIBLE_DEVICES")
    )


def test_a_request_for_three_stays_pending_with_the_schedulers_text(lab: Lab) -> None:
    """4.10.5: the control plane is tainted, the worker is short of devices."""
    lab.kubectl("apply", "-f", "examples/gpu-oversub.yaml")
    lab.kubectl("wait", "pod/gpu-oversub", "--for=condition=PodScheduled=False", "--timeout=60s")
    pod = lab.get("pod", "gpu-oversub")
    (scheduled,) = (c for c in pod["status"]["conditions"] if c["type"] == "PodScheduled")
    assert pod["status"]["phase"] == "Pending"
    assert scheduled["message"].startswith(
        f"0/2 nodes are available: 1 Insufficient {RESOURCE}, 1 node(s) had untolerated taint(s)."
    )


def test_the_socket_is_in_the_nodes_folder(lab: Lab) -> None:
    """4.10.7: the plugin's socket is beside the kubelet's own."""
    listed = lab.in_worker("ls", "/var/lib/kubelet/device-plugins").split()
    assert "kubelet.sock" in listed
    assert len([name for name in listed if name.endswith(".sock")]) == 2


def test_the_kubelets_journal_shows_the_registration(lab: Lab) -> None:
    """4.10.7: the kubelet says which resource was registered."""
    journal = lab.in_worker("journalctl", "-u", "kubelet", "--no-pager")
    assert re.search(rf'Got registration request from device plugin.*"{RESOURCE}"', journal)
