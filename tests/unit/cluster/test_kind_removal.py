"""Nodes go without leaving a container that can never end."""

from pathlib import Path

import pytest

from lab.cluster.kind.removal import remove, thaw
from lab.host.docker import Docker
from lab.host.processes import Processes
from tests.unit.stand_ins.engine import FakeEngine


@pytest.fixture
def docker() -> Docker:
    """Return the `docker` of the test."""
    return Docker(Processes())


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """Return the state of a frozen cgroup, four levels below that of the node `id-t-lab-worker`."""
    state = tmp_path / "docker/id-t-lab-worker/kubelet.slice/pod.slice/x.scope/freezer.state"
    state.parent.mkdir(parents=True)
    state.write_text("FROZEN")
    return state


def test_kubelet_and_runtime_are_stopped_before_a_node_is_killed(
    engine: FakeEngine, docker: Docker
) -> None:
    """A node that does not run cannot be asked, and is not."""
    engine.set(containers=[engine.node("t-lab-worker"), engine.node("t-lab-cp", running=False)])
    assert remove(docker, docker.cluster_containers("t-lab")).ok
    stops_and_removal = [each for each in engine.state()["calls"] if each[:2] in ("ex", "rm")]
    assert stops_and_removal == [
        "exec t-lab-worker systemctl stop kubelet containerd",
        "rm -f -v t-lab-cp t-lab-worker",
    ]
    assert engine.names() == []


def test_node_that_cannot_be_removed_is_thawed(
    engine: FakeEngine, docker: Docker, frozen: Path, tmp_path: Path
) -> None:
    """The next try finds processes that can end."""
    words = "cannot remove - tried to kill container, but did not receive an exit event"
    engine.set(containers=engine.nodes("worker"), stubborn=words)
    removed = remove(docker, docker.cluster_containers("t-lab"), tmp_path)
    assert (removed.ok, removed.stderr.strip()) == (False, words)
    assert frozen.read_text() == "THAWED"


def test_only_the_nodes_own_processes_are_thawed(
    engine: FakeEngine, docker: Docker, frozen: Path, tmp_path: Path
) -> None:
    """What others have frozen stays so, and a machine without that folder is no error."""
    engine.set(containers=engine.nodes("control-plane"))
    (other,) = docker.cluster_containers("t-lab")
    thaw(other, tmp_path)
    thaw(other, tmp_path / "no-such-folder")
    assert frozen.read_text() == "FROZEN"
