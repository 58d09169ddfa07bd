"""What must come back by itself: after a kubelet, a node or a plugin has gone."""

import json

from tests.kind.machine import Lab, run, wait_until

CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"


def device_ids(lab: Lab) -> list[str]:
    """Return the IDs of the healthy devices that the kubelet has written down."""
    checkpoint = json.loads(lab.in_worker("cat", CHECKPOINT))
    return sorted(checkpoint["Data"]["RegisteredDevices"].get("fake.example.com/device") or ())


def identity(lab: Lab) -> tuple[str, int]:
    """Return what changes when the plugin's pod is replaced or its container restarts."""
    pod = lab.plugin_pod()
    return pod["metadata"]["uid"], pod["status"]["containerStatuses"][0]["restartCount"]


def registrations(lab: Lab) -> int:
    """Return how often the plugin has registered since its container started."""
    said = lab.machine.gpulab("logs", "--name", lab.name).stdout
    return sum(json.loads(line)["event"] == "registered" for line in said.splitlines())


def test_a_kubelet_restart_brings_the_devices_back_without_a_plugin_restart(lab: Lab) -> None:
    """The plugin registers again from inside its process: allocatable is 2 within 15 s."""
    before, registered = identity(lab), registrations(lab)
    lab.in_worker("systemctl", "restart", "kubelet")
    wait_until(lambda: registrations(lab) > registered, "the plugin registers again", 15)
    lab.wait_for_allocatable(2, 15)
    assert identity(lab) == before


def test_a_node_restart_brings_the_devices_back(lab: Lab) -> None:
    """`docker restart` of the worker is a reboot: every container of the node is a new one."""
    before, (uid, restarts) = device_ids(lab), identity(lab)
    run("docker", "restart", lab.worker)
    wait_until(lambda: identity(lab) > (uid, restarts), "the plugin's container is new", 120)
    wait_until(lambda: device_ids(lab) == before, "the same devices are registered")
    lab.wait_for_allocatable(2, 60)


def test_a_new_plugin_pod_takes_over_with_the_same_devices(lab: Lab) -> None:
    """Deleting the plugin's pod loses nothing: the IDs come from the node and the fleet."""
    before, old = device_ids(lab), lab.plugin_pod()["metadata"]
    lab.kubectl("delete", "pod", "-n", "kube-system", old["name"])
    wait_until(lambda: lab.plugin_pod()["metadata"]["uid"] != old["uid"], "a new plugin pod")
    wait_until(lambda: device_ids(lab) == before, "the same devices are registered")
    lab.wait_for_allocatable(2, 30)
