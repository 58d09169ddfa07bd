"""Whose a cluster is, and that it goes whole."""

import stat
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from lab.cluster.kind import cluster as cluster_module
from lab.cluster.kind.cluster import KindCluster
from lab.cluster.kind.config import for_lab, load
from lab.cluster.kind.program import Kind
from lab.cluster.record import LabFolder, Record
from lab.core.errors import CleanUpFailed, NotReady
from lab.core.progress import Progress
from lab.host.docker import Docker
from lab.host.processes import Processes, ProcessFailed
from tests.unit.stand_ins.engine import KIND, FakeEngine


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    """Return the folder of the lab, with its record."""
    folder = LabFolder(tmp_path / "state" / "t-lab")
    folder.write(Record("t-lab", "kind", "creating", "node:v1"))
    return folder


@pytest.fixture
def cluster(engine: FakeEngine, folder: LabFolder, monkeypatch: pytest.MonkeyPatch) -> KindCluster:
    """Return the cluster `t-lab` in an engine that has none of it."""
    monkeypatch.setattr(cluster_module, "_LATE_CONTAINERS_SECONDS", 0)
    assert engine.names() == []
    return KindCluster("t-lab", Docker(Processes()), folder)


@pytest.fixture
def create(
    cluster: KindCluster, put_on_path: Callable[[str, str], Path], progress: Progress
) -> Callable[[], None]:
    """Return the creation of the default cluster by a kind that is on the PATH."""
    path = put_on_path("kind", KIND)

    def create() -> None:
        config = for_lab(load(None), wanted_workers=2, owner_mark=cluster.folder.owner_mark)
        with progress.step("Creating") as step:
            cluster.create(Kind(path, "v0.33.0"), Processes(), config, "node:v1", step)

    return create


def test_nodes_of_the_lab_are_found(cluster: KindCluster, engine: FakeEngine) -> None:
    """By name, running or not, and without those of another cluster."""
    stopped = engine.node("t-lab-worker", running=False)
    other = engine.node("other-worker", cluster="other", mark="")
    engine.set(containers=[stopped, *engine.nodes("control-plane"), other])
    assert [each.name for each in cluster.containers()] == ["t-lab-control-plane", "t-lab-worker"]


@pytest.mark.parametrize("mark", ["", "/elsewhere/t-lab/node", "/elsewhere{own}", "/host_mnt"])
def test_cluster_that_others_made_is_refused(
    cluster: KindCluster, engine: FakeEngine, mark: str
) -> None:
    """The name is not enough, nor is a lab of another state folder ours."""
    mark = mark.format(own=cluster.folder.owner_mark)
    foreign = engine.node("t-lab-worker", mark=mark)
    engine.set(containers=[*engine.nodes("control-plane"), foreign])
    with pytest.raises(NotReady) as raised:
        cluster.containers()
    error = raised.value
    assert error.what == "there is a kind cluster 't-lab' that this gpu-lab did not make"
    assert error.where == "t-lab-worker"
    assert error.commands[1] == "kind delete cluster --name t-lab"


def test_mark_is_known_behind_docker_desktop(cluster: KindCluster, engine: FakeEngine) -> None:
    """There the host's folders lie below another one."""
    mark = f"/host_mnt{cluster.folder.owner_mark}"
    engine.set(containers=[engine.node("t-lab-worker", mark=mark)])
    assert cluster.workers() == ("t-lab-worker",)


def test_workers_are_in_the_order_of_the_configuration(
    cluster: KindCluster, engine: FakeEngine
) -> None:
    """The tenth comes after the second, and a control plane is none."""
    engine.set(containers=engine.nodes("worker10", "control-plane", "worker2", "worker"))
    assert cluster.workers() == ("t-lab-worker", "t-lab-worker2", "t-lab-worker10")


def test_created_nodes_are_the_labs_own(
    cluster: KindCluster, create: Callable[[], None], folder: LabFolder
) -> None:
    """Made from the written configuration, they bear the mark from their first moment."""
    create()
    assert cluster.workers() == ("t-lab-worker", "t-lab-worker2")
    assert load(folder.kind_config)["nodes"][1]["role"] == "worker"


def test_kubeconfig_is_the_labs_own_and_private(
    create: Callable[[], None], folder: LabFolder
) -> None:
    """It lies in the lab's folder, for the user's eyes only."""
    create()
    assert stat.S_IMODE(folder.kubeconfig.stat().st_mode) == 0o600


def test_creation_that_fails_has_kinds_own_words(
    create: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command line, to be tried by hand."""
    monkeypatch.setenv("FAKE_KIND", "fails")
    with pytest.raises(ProcessFailed, match="kind could not create the cluster") as raised:
        create()
    assert "failed to create cluster: node did not boot" in raised.value.seen
    assert "create cluster --name t-lab --image node:v1 --config" in raised.value.where


def test_configuration_that_cannot_be_written_is_an_error_of_the_lab(
    cluster: KindCluster, create: Callable[[], None], engine: FakeEngine
) -> None:
    """A full disk, here a folder in the way, is no bug; kind is not even started."""
    cluster.folder.kind_config.mkdir()
    with pytest.raises(NotReady, match="the lab cannot write its own files"):
        create()
    assert engine.names() == []


def test_all_nodes_are_deleted_with_their_volumes(cluster: KindCluster, engine: FakeEngine) -> None:
    """Those of another cluster stay."""
    other = engine.node("other-worker", cluster="other")
    engine.set(containers=[*engine.nodes(), other])
    cluster.delete()
    assert engine.names() == ["other-worker"]
    assert engine.calls("rm") == ["rm -f -v t-lab-control-plane t-lab-worker"]


def test_deleting_nothing_is_done_at_once(cluster: KindCluster, engine: FakeEngine) -> None:
    """Without a node nothing is removed."""
    cluster.delete()
    assert engine.calls("rm") == []


def test_node_that_appears_late_is_deleted_too(cluster: KindCluster, engine: FakeEngine) -> None:
    """It looks until there is none."""
    engine.set(containers=engine.nodes("control-plane"), late=[engine.nodes("worker")])
    cluster.delete()
    assert engine.names() == []


def test_interrupted_creation_is_given_time_to_show(
    cluster: KindCluster, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine may still be creating a container when the `docker run` for it was ended."""
    nodes = engine.nodes()

    def sleep(_seconds: float) -> None:
        if nodes:
            engine.set(containers=[nodes.pop()])

    # Not `time.sleep` itself: the wait for a child process sleeps too.
    monkeypatch.setattr("lab.cluster.kind.cluster.time", Mock(sleep=sleep))
    cluster.delete(just_interrupted=True)
    assert (engine.names(), nodes) == ([], [])


def test_foreign_cluster_is_not_deleted(cluster: KindCluster, engine: FakeEngine) -> None:
    """Not even the nodes in it that bear the mark."""
    foreign = engine.node("t-lab-worker", mark="")
    engine.set(containers=[*engine.nodes("control-plane"), foreign])
    with pytest.raises(NotReady):
        cluster.delete()
    assert engine.calls("rm") == []


def test_nodes_that_stay_are_named(cluster: KindCluster, engine: FakeEngine) -> None:
    """The error has the engine's words and the command to paste."""
    engine.set(containers=engine.nodes(), stubborn="Error response from daemon: device is busy")
    with pytest.raises(CleanUpFailed) as raised:
        cluster.delete()
    error = raised.value
    assert error.what == "containers of the lab could not be removed"
    assert error.where == "t-lab-control-plane, t-lab-worker"
    assert error.seen == "Error response from daemon: device is busy"
    assert error.commands == ("docker rm -f -v t-lab-control-plane t-lab-worker",)
