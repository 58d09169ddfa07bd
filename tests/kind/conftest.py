"""Labs on real kind clusters, made and removed through the `gpulab` command alone.

Where Docker or a node image is missing these tests are skipped with the reason; with
GPULAB_REQUIRE=kind in the environment that is a failure.
"""

import os
from collections.abc import Iterator

import pytest

from tests.kind.machine import USER_KUBECONFIG, Lab, Machine


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return this machine with a state folder, and a user's kubeconfig, of the tests' own."""
    state = tmp_path_factory.mktemp("state")
    kubeconfig = tmp_path_factory.mktemp("user") / "config"
    kubeconfig.write_text(USER_KUBECONFIG)
    machine = Machine(state / "gpu-lab", kubeconfig)
    _require_kind(machine)
    return machine


def _require_kind(machine: Machine) -> None:
    failed = [each for each in machine.findings().values() if each["state"] == "fail"]
    if not failed:
        return
    reason = "; ".join(f"{each['name']}: {each['measured']}" for each in failed)
    if os.environ.get("GPULAB_REQUIRE") == "kind":
        pytest.fail(f"GPULAB_REQUIRE=kind, but no kind cluster can run here: {reason}")
    pytest.skip(f"no kind cluster can run here: {reason}")


@pytest.fixture(scope="session")
def lab(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Return the chapter's lab: one worker with two devices."""
    with machine.lab("t-chapter", tmp_path_factory.mktemp("bin")) as lab:
        yield lab


@pytest.fixture
def pods(lab: Lab) -> Iterator[None]:
    """Remove the pods that a test made."""
    yield
    lab.kubectl("delete", "pods", "--all", "--now", "--wait")
