"""The network of pods in a node image: between nodes, to services, and after a node restart."""

import json
from collections.abc import Callable

import pytest

from tests.kind.machine import Lab, run, wait_until

Reach = Callable[[str, str], bool]


@pytest.fixture
def pod_on(lab: Lab, pods: None) -> Callable[[str, str], str]:  # noqa: ARG001 - removes them again
    """Return what runs a web server in a pod on a node, and returns the pod's address."""

    def start(name: str, node: str) -> str:
        serve = f"mkdir /www; echo {name} >/www/index.html; exec httpd -f -h /www"
        container = {"name": "web", "image": "busybox:1.36", "command": ["sh", "-c", serve]}
        spec = {
            "nodeName": node,
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        }
        metadata = {"name": name, "labels": {"app": name}}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        manifest = lab.folder / f"{name}.json"
        manifest.write_text(json.dumps(pod))
        lab.kubectl("apply", "-f", str(manifest))
        lab.kubectl("wait", f"pod/{name}", "--for=condition=Ready", "--timeout=60s")
        address: str = lab.get("pod", name)["status"]["podIP"]
        return address

    return start


@pytest.fixture
def reaches(lab: Lab) -> Reach:
    """Return whether a pod gets an answer from an address."""

    def answered(pod: str, address: str) -> bool:
        fetch = f"timeout 5 wget -qO- http://{address}"
        return lab.kubectl("exec", pod, "--", "sh", "-c", fetch, check=False).returncode == 0

    return answered


def test_pods_reach_each_other_and_services(
    lab: Lab, pod_on: Callable[[str, str], str], reaches: Reach
) -> None:
    """Both ways between nodes, and by the name of a service."""
    there = pod_on("there", f"{lab.name}-control-plane")
    here = pod_on("here", lab.worker)
    wait_until(lambda: reaches("here", there), "the worker's pod reaches the control plane's")
    wait_until(lambda: reaches("there", here), "the control plane's pod reaches the worker's")
    lab.kubectl("expose", "pod", "there", "--port=80")
    try:
        wait_until(lambda: reaches("here", "there.default.svc.cluster.local"), "a service answers")
    finally:
        lab.kubectl("delete", "service", "there")


def test_pods_reach_each_other_after_a_node_restart(
    lab: Lab, pod_on: Callable[[str, str], str], reaches: Reach
) -> None:
    """A node that comes back, maybe with another address, has its routes and names again."""
    there = pod_on("there", f"{lab.name}-control-plane")
    pod_on("here", lab.worker)
    run("docker", "restart", lab.worker)
    wait_until(lambda: reaches("here", there), "the pod reaches the other node", 120)
    resolve = ("exec", "here", "--", "nslookup", "kubernetes.default.svc.cluster.local")
    wait_until(lambda: lab.kubectl(*resolve, check=False).returncode == 0, "names resolve", 60)
    lab.wait_for_allocatable(2, 60)
