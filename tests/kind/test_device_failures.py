"""What a real kubelet makes of devices that fail: the cases of Kubernetes' own tests, and ours.

The cases are those of test/e2e_node/device_plugin_failures_test.go and device_plugin_test.go, told
by the numbers that a node shows. One rule takes five minutes of a kubelet's time; the other tests
run while its node waits.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.kind.machine import Ended, Lab, Machine, wait_until

NAME = "t-devices"
#: Devices by pool, and the node that has it.
POOLS = {
    "cards": (4, "worker"),
    "lone": (1, "worker"),
    "deaf": (2, "worker"),
    # On a node of its own: a kubelet that restarts begins its five minutes anew.
    "lost": (2, "worker2"),
}
#: A kubelet forgets devices five minutes after their plugin has gone, at its next status.
GRACE_SECONDS = 5 * 60


def pool(name: str, count: int, node: str) -> dict[str, Any]:
    """Return a pool of plain devices on one node of the lab."""
    return {
        "name": name,
        "nodes": 1,
        "nodeNames": [f"{NAME}-{node}"],
        "resource": f"{name}.example.com/device",
        "count": count,
    }


def fleet_file(folder: Path, policy: str, *, mute: bool = False) -> Path:
    """Return a fleet file with the pools, and a policy of health.

    With `mute` there is one more resource, whose plugin fails as the kubelet asks for its options.
    """
    pools = [pool(name, count, node) for name, (count, node) in POOLS.items()]
    fault = {"call": "GetDevicePluginOptions", "resource": "mute.example.com/device"}
    more = {"faults": [{**fault, "fails": "not today"}]} if mute else {}
    if mute:
        pools.append(pool("mute", 2, "worker"))
    fleet = {
        "apiVersion": "gpu-lab/v1",
        "kind": "Fleet",
        "pools": pools,
        "health": {"policy": policy},
        **more,
    }
    file = folder / f"{policy}.yaml"
    # JSON is YAML.
    file.write_text(json.dumps(fleet))
    return file


@dataclass(frozen=True)
class Devices:
    """The lab's nodes as numbers, and the commands that break them."""

    lab: Lab

    def shown(self, resource: str, node: str = "worker") -> tuple[str | None, str | None]:
        """Return what the node says of a resource: allocatable and capacity, None without key."""
        status = self.lab.get("node", f"{NAME}-{node}")["status"]
        key = f"{resource}.example.com/device"
        return status["allocatable"].get(key), status["capacity"].get(key)

    def wait_for(
        self, resource: str, allocatable: int, capacity: int, node: str = "worker"
    ) -> None:
        """Wait until a node shows these numbers."""
        wanted = (str(allocatable), str(capacity))
        what = f"{resource} on {node}: allocatable, capacity = {wanted}"
        wait_until(lambda: self.shown(resource, node) == wanted, what, 30)

    def gpulab(self, *arguments: str) -> Ended:
        """Run `gpulab` on this lab."""
        ended = self.lab.machine.gpulab(*arguments, "--name", NAME)
        assert ended.returncode == 0, ended.stderr
        return ended

    def inject(self, *arguments: str, node: str = "worker") -> Any:  # noqa: ANN401 - JSON
        """Run `gpulab inject` on one node, and return what it says."""
        on = ("--node", f"{NAME}-{node}", "--output", "json")
        return json.loads(self.gpulab("inject", *arguments, *on).stdout)

    def calls(self, resource: str) -> list[str]:
        """Return the calls about a resource that have ended, oldest first.

        A list that was sent has an entry of its own in the journal, and no code.
        """
        said = self.gpulab("journal", "--node", f"{NAME}-worker", "--output", "json").stdout
        (node,) = json.loads(said)["nodes"]
        ended = [each for each in node["result"]["calls"] if "code" in each]
        key = f"{resource}.example.com/device"
        return [each["call"] for each in ended if each["resource"] == key]

    def run_pod(self, name: str, resource: str, count: int = 1) -> None:
        """Create a pod with devices, and wait until it runs."""
        self.lab.start_pod(name, {f"{resource}.example.com/device": count})
        self.lab.wait_for_pod(name)

    def devices_of(self, pod: str) -> set[str]:
        """Return the devices that a pod's container has seen, in its latest run."""
        return set(self.lab.kubectl("logs", pod).stdout.strip().split(","))

    def container(self, pod: str) -> tuple[str, int]:
        """Return a pod's container, by its ID, and how often it was restarted."""
        (status,) = self.lab.get("pod", pod)["status"]["containerStatuses"]
        return status["containerID"], status["restartCount"]

    def restart_kubelet(self) -> None:
        """Restart the worker's kubelet, and wait for the devices."""
        registered = self.calls("cards").count("Register")
        self.lab.in_worker("systemctl", "restart", "kubelet")
        wait_until(
            lambda: self.calls("cards").count("Register") > registered,
            "the plugin registers again",
        )
        self.wait_for("cards", 4, 4)

    def restart_plugin(self) -> None:
        """Replace the worker's plugin, and wait for the devices."""
        pods = self.lab.get("pods", "-n", "kube-system", "-l", "app=fake-gpu-device-plugin")[
            "items"
        ]
        (old,) = (each for each in pods if each["spec"]["nodeName"] == f"{NAME}-worker")
        self.lab.kubectl("delete", "pod", "-n", "kube-system", old["metadata"]["name"])
        self.lab.kubectl(
            "rollout", "status", "daemonset/fake-gpu-device-plugin", "-n", "kube-system"
        )
        self.wait_for("cards", 4, 4)


@pytest.fixture(scope="module")
def devices(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Devices]:
    """Return a lab with four resources on two workers."""
    folder = tmp_path_factory.mktemp("devices")
    with machine.lab(NAME, folder, "--fleet", str(fleet_file(folder, "recovers"))) as lab:
        yield Devices(lab)


@pytest.fixture(scope="module")
def gone_at(devices: Devices) -> float:
    """Take two plugins away, and return when: one that no longer registers, one that has ended."""
    devices.inject("fault", "Register", "--resource", "deaf.example.com/device", "--hang")
    devices.inject("remove-socket", "deaf.example.com/device")
    devices.lab.kubectl("label", "node", f"{NAME}-worker2", "gpu-lab/device-plugin-")
    return time.monotonic()


@pytest.fixture(autouse=True)
def _sound_afterwards(devices: Devices, gone_at: float) -> Iterator[None]:
    """Leave no pod behind, and the hardware sound."""
    del gone_at
    yield
    devices.lab.kubectl("delete", "pods", "--all", "--now", "--wait")
    devices.inject("healthy", "--all")


def test_a_plugin_that_is_gone_leaves_its_capacity(devices: Devices) -> None:
    """Within the grace of five minutes allocatable is 0, and capacity what it was."""
    devices.wait_for("deaf", 0, 2)
    devices.wait_for("lost", 0, 2, node="worker2")


def test_one_device_fails_and_recovers(devices: Devices) -> None:
    """0 of 1, and 1 of 1 again."""
    devices.inject("unhealthy", "lone/0")
    devices.wait_for("lone", 0, 1)
    devices.inject("healthy", "lone/0")
    devices.wait_for("lone", 1, 1)


def test_devices_fail_and_recover_in_turn(devices: Devices) -> None:
    """3, 4, 2, 3 and 4 of 4."""
    for command, device, allocatable in (
        ("unhealthy", "cards/0", 3),
        ("healthy", "cards/0", 4),
        ("unhealthy", "cards/1", 3),
        ("unhealthy", "cards/2", 2),
        ("healthy", "cards/1", 3),
        ("healthy", "cards/2", 4),
    ):
        devices.inject(command, device)
        devices.wait_for("cards", allocatable, 4)


def test_a_pod_keeps_running_on_a_device_that_fails(devices: Devices) -> None:
    """Nothing is evicted; the device is not given out again, however, before it recovers."""
    devices.run_pod("holder", "lone")
    before = devices.container("holder")
    devices.inject("unhealthy", "lone/0")
    devices.wait_for("lone", 0, 1)
    # Kubernetes' own test looks for a minute. A kubelet that evicted would do so at its next sync.
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        assert devices.container("holder") == before
        time.sleep(5)
    devices.lab.kubectl("delete", "pod", "holder", "--now", "--wait")
    assert devices.shown("lone") == ("0", "1")


def test_a_list_that_ends_at_once_shows_none(devices: Devices) -> None:
    """The kubelet does not ask again by itself: each list is asked for after a registration."""
    resource = "lone.example.com/device"
    (node,) = devices.inject("fault", "ListAndWatch", "--resource", resource, "--drop", "0s")[
        "nodes"
    ]
    devices.inject("remove-socket", resource)
    # One list ended with its socket, and two by the rule.
    wait_until(lambda: devices.calls("lone").count("ListAndWatch") >= 3, "lists that end at once")
    calls = devices.calls("lone")
    # The kubelet may ask for a list before its answer to Register is in.
    assert calls.count("ListAndWatch") <= calls.count("Register") + 1
    devices.wait_for("lone", 0, 1)
    devices.inject("clear", node["result"]["id"])
    devices.wait_for("lone", 1, 1)


def test_an_assignment_is_kept_over_restarts_of_its_container(devices: Devices) -> None:
    """The same device comes back, and the other pod has another one."""
    brief = "echo $GPULAB_VISIBLE_DEVICES; exec sleep 2"
    devices.lab.start_pod("one", {"cards.example.com/device": 1}, brief)
    devices.run_pod("other", "cards")
    wait_until(lambda: devices.container("one")[1] >= 1, "the container restarts")
    first, other = devices.devices_of("one"), devices.devices_of("other")
    wait_until(lambda: devices.container("one")[1] >= 2, "the container restarts again")
    assert devices.devices_of("one") == first
    assert not first & other


@pytest.mark.parametrize("what", ["kubelet", "plugin"])
def test_an_assignment_is_kept_over_a_restart(devices: Devices, what: str) -> None:
    """The pod runs on undisturbed, and a pod that comes later gets other devices."""
    devices.run_pod("early", "cards", 2)
    before = devices.container("early")
    restart = devices.restart_kubelet if what == "kubelet" else devices.restart_plugin
    restart()
    devices.run_pod("late", "cards", 2)
    assert devices.container("early") == before
    early, late = devices.devices_of("early"), devices.devices_of("late")
    assert (len(early), len(late), early & late) == (2, 2, set())


@pytest.mark.parametrize("what", ["kubelet", "plugin"])
def test_what_is_broken_stays_broken_over_a_restart(devices: Devices, what: str) -> None:
    """The hardware does not heal by a restart of who looks at it."""
    devices.inject("unhealthy", "lone/0")
    devices.wait_for("lone", 0, 1)
    restart = devices.restart_kubelet if what == "kubelet" else devices.restart_plugin
    restart()
    devices.wait_for("lone", 0, 1)


def test_after_five_minutes_the_kubelet_forgets_the_devices(
    devices: Devices, gone_at: float
) -> None:
    """Capacity is 0 then, under a key that stays; a plugin that comes back brings all back."""
    left = gone_at + GRACE_SECONDS + 75 - time.monotonic()
    forgotten = ("0", "0")
    wait_until(lambda: devices.shown("lost", "worker2") == forgotten, "all is forgotten", left)
    assert time.monotonic() - gone_at > GRACE_SECONDS
    devices.lab.kubectl("label", "node", f"{NAME}-worker2", "gpu-lab/device-plugin=true")
    devices.wait_for("lost", 2, 2, node="worker2")


def test_a_sticky_device_recovers_only_with_its_plugin(devices: Devices) -> None:
    """With NVIDIA's policy the repair is not seen before the plugin starts again."""
    fleet = fleet_file(devices.lab.folder, "sticky")
    devices.gpulab("up", "--fleet", str(fleet))
    devices.inject("unhealthy", "lone/0")
    devices.wait_for("lone", 0, 1)
    devices.inject("healthy", "lone/0")
    devices.inject("unhealthy", "cards/0")
    devices.wait_for("cards", 3, 4)
    # The kubelet has had another list since the repair, and lone is as it was.
    assert devices.shown("lone") == ("0", "1")
    devices.inject("healthy", "cards/0")
    devices.restart_plugin()
    devices.wait_for("lone", 1, 1)


def test_a_resource_whose_options_fail_is_not_there(devices: Devices) -> None:
    """Registration fails with the plugin's words; the node has no key of it, and no list is sent.

    `gpulab up` does not wait for it, and says how to let it come; the others are served.
    """
    fleet = fleet_file(devices.lab.folder, "recovers", mute=True)
    up = devices.gpulab("up", "--fleet", str(fleet))
    held = f"mute.example.com/device on {NAME}-worker"
    assert f"not waited for: {held}; rule fleet-1 holds it back" in up.stderr
    assert up.stdout.splitlines()[-1].startswith(
        f"held back: {held} (GetDevicePluginOptions fails)"
    )
    assert "failed to get device plugin options" in devices.gpulab("logs", f"{NAME}-worker").stdout
    assert devices.shown("mute") == (None, None)
    assert set(devices.calls("mute")) == {"GetDevicePluginOptions", "Register"}
    devices.wait_for("cards", 4, 4)
    devices.inject("clear", "fleet-1")
    wait_until(lambda: devices.shown("mute") == ("2", "2"), "what was held back comes", 90)
