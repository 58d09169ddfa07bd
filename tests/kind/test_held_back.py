"""What `gpulab up` says, and does not wait for, where the fleet's own faults hold back."""

from collections.abc import Iterator

import pytest

from tests.kind.machine import Lab, Machine, wait_until

NAME = "t-held-back"
MUTE, SERVED = "mute.example.com/device", "served.example.com/device"
FLEET = f"""
apiVersion: gpu-lab/v1
kind: Fleet
pools:
  - {{name: served, nodes: 1, nodeNames: [{NAME}-worker], resource: {SERVED}, count: 4}}
  - {{name: mute, nodes: 1, nodeNames: [{NAME}-worker], resource: {MUTE}, count: 2}}
faults:
  - {{call: GetDevicePluginOptions, resource: {MUTE}, fails: not today}}
"""


@pytest.fixture(scope="module")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return a lab one of whose resources fails as the kubelet asks for its options."""
    with machine.lab_of_fleet(NAME, tmp_path_factory.mktemp("held-back"), FLEET) as lab:
        yield lab


def allocatable(lab: Lab, resource: str) -> str | None:
    """Return how many devices the worker shows, None where it has no key of the resource."""
    shown: dict[str, str] = lab.get("node", lab.worker)["status"]["allocatable"]
    return shown.get(resource)


def test_a_resource_that_is_held_back_is_named_and_comes_when_it_is_cleared(lab: Lab) -> None:
    """`up` is done all the same; the kubelet's words are in the plugin's log."""
    up = lab.machine.gpulab("up", "--name", NAME, "--fleet", str(lab.folder / "fleet.yaml"))
    held = f"{MUTE} on {NAME}-worker"
    assert up.returncode == 0
    assert f"not waited for: {held}; rule fleet-1 holds it back" in up.stderr
    last = up.stdout.splitlines()[-1]
    assert last.startswith(f"held back: {held} (GetDevicePluginOptions fails)")
    logs = lab.machine.gpulab("logs", lab.worker, "--name", NAME).stdout
    assert "failed to get device plugin options" in logs
    assert (allocatable(lab, MUTE), allocatable(lab, SERVED)) == (None, "4")
    cleared = lab.machine.gpulab("inject", "clear", "fleet-1", "--name", NAME)
    assert cleared.returncode == 0, cleared.stderr
    wait_until(lambda: allocatable(lab, MUTE) == "2", "what was held back comes", 90)
