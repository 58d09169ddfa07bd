"""Labs on real kind clusters, made and removed through the `gpulab` command alone.

Where Docker or a node image is missing these tests are skipped with the reason; with
GPULAB_REQUIRE=kind in the environment that is a failure.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from lab.host.folders import Folders
from tests.kind.machine import USER_KUBECONFIG, Lab, Machine
from tests.leaving_out import leave_out


@pytest.fixture(scope="session")
def state() -> Iterator[Path]:
    """Return the state folder of these tests' labs, which no other run uses meanwhile.

    It is the same one in every run: the labs of a run that was killed are known by it, and are
    taken down by the next.
    """
    state = Folders.of().state.with_name("gpu-lab-tests")
    state.mkdir(parents=True, exist_ok=True)
    try:
        alone = FileLock(state.with_suffix(".lock"), timeout=0).acquire()
    except Timeout:
        pytest.exit("another run of tests/kind is at work on this machine: wait for its end", 3)
    with alone:
        yield state


@pytest.fixture(scope="session")
def machine(state: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return this machine with a state folder, and a user's kubeconfig, of the tests' own."""
    kubeconfig = tmp_path_factory.mktemp("user") / "config"
    kubeconfig.write_text(USER_KUBECONFIG)
    machine = Machine(state, kubeconfig)
    _require_kind(machine)
    machine.clear()
    return machine


def _require_kind(machine: Machine) -> None:
    failed = [each for each in machine.findings().values() if each["state"] == "fail"]
    if not failed:
        return
    reason = "; ".join(f"{each['name']}: {each['measured']}" for each in failed)
    leave_out(f"no kind cluster can run here: {reason}")


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
