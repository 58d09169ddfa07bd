"""What the lab says of itself, and that it keeps to itself."""

import json

from tests.kind.machine import USER_KUBECONFIG, Ended, Lab, wait_until


def test_status_as_json_keeps_its_contract(lab: Lab) -> None:
    """Tools rely on these keys; the worker has two devices, none of them requested."""
    status = json.loads(lab.machine.gpulab("status", "--name", lab.name, "-o", "json").stdout)
    assert set(status) == {
        "name", "backend", "kubernetes", "kubeconfig", "ready", "nodes", "plugins",
    }  # fmt: skip
    assert (status["name"], status["backend"], status["ready"]) == (lab.name, "kind", True)
    (worker,) = (node for node in status["nodes"] if node["name"] == lab.worker)
    assert worker == {
        "name": lab.worker,
        "ready": True,
        "pool": "chapter",
        "devicePluginDir": "/var/lib/kubelet/device-plugins",
        "resources": {"fake.example.com/device": {"capacity": 2, "allocatable": 2, "requested": 0}},
    }


def test_the_plugins_logs_say_that_it_registered(lab: Lab) -> None:
    """`gpulab logs` prints one JSON object per line."""
    lines = lab.machine.gpulab("logs", lab.worker, "--name", lab.name).stdout.splitlines()
    assert "registered" in {json.loads(line)["event"] for line in lines}


def test_up_again_changes_nothing(lab: Lab) -> None:
    """A lab that is there is brought up to date, not made anew."""
    before = lab.get("nodes")["items"][0]["metadata"]["uid"]
    again = lab.machine.gpulab("up", "--name", lab.name)
    assert again.returncode == 0, again.stderr
    assert lab.get("nodes")["items"][0]["metadata"]["uid"] == before


def test_the_kubeconfig_is_the_labs_own_and_private(lab: Lab) -> None:
    """The lab's is readable by its user alone; the user's own is as it was."""
    assert lab.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert lab.machine.user_kubeconfig.read_text() == USER_KUBECONFIG


def test_capacity_without_allocatable_is_a_check_that_fails(lab: Lab) -> None:
    """All is broken, or the plugin is gone: both ways to look are told (k8s-device-plugin#452)."""

    def seen() -> Ended:
        return lab.machine.gpulab("status", "--name", lab.name)

    lab.machine.gpulab("inject", "unhealthy", "--all", "--name", lab.name)
    wait_until(lambda: seen().returncode == 1, "the lab is not ready")
    said = seen().stderr
    assert f"gpulab inject list --name {lab.name}" in said
    assert f"gpulab logs --name {lab.name}" in said
    lab.machine.gpulab("inject", "healthy", "--all", "--name", lab.name)
    wait_until(lambda: seen().returncode == 0, "the lab is ready again")
