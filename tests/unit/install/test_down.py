"""`down` takes away whatever is there of a lab, and nothing else."""

import pytest

from lab.cluster.record import LabFolder, Record
from lab.core.errors import CleanUpFailed, Interrupted, NotReady
from lab.install.down import take_down
from lab.install.lock import alone
from lab.install.site import Site
from tests.unit.stand_ins.engine import FakeEngine


@pytest.fixture
def folder(site: Site) -> LabFolder:
    """Return the folder of the lab, which is not there yet."""
    return LabFolder.of(site.folders, "t-lab")


def files(folder: LabFolder) -> None:
    """Put the lab's files where `up` puts them."""
    folder.write(Record("t-lab", "kind", "ready", "node:v1"))


def lock_of(site: Site) -> str:
    """Return the names of the lock files that are there."""
    return " ".join(each.name for each in (site.folders.cache / "locks").iterdir())


@pytest.mark.parametrize("with_nodes", [False, True])
@pytest.mark.parametrize("with_files", [False, True])
def test_whatever_is_there_goes(
    site: Site, engine: FakeEngine, folder: LabFolder, *, with_files: bool, with_nodes: bool
) -> None:
    """A whole lab, half of one, or none at all; and it says whether there was any."""
    if with_files:
        files(folder)
    if with_nodes:
        engine.set(containers=engine.nodes())
    assert take_down("t-lab", site) == (with_files or with_nodes)
    assert (engine.names(), folder.path.parent.exists(), lock_of(site)) == ([], False, "")


def test_second_down_finds_nothing(site: Site, engine: FakeEngine, folder: LabFolder) -> None:
    """And is no error."""
    files(folder)
    engine.set(containers=engine.nodes())
    assert [take_down("t-lab", site) for _ in range(2)] == [True, False]


def test_damaged_record_does_not_hold_it_up(
    site: Site, engine: FakeEngine, folder: LabFolder
) -> None:
    """It is the way out that the error of `up` names."""
    files(folder)
    (folder.path / "lab.json").write_text("{")
    engine.set(containers=engine.nodes())
    assert take_down("t-lab", site)
    assert (engine.names(), folder.path.exists()) == ([], False)


def test_other_lab_stays(site: Site, engine: FakeEngine, folder: LabFolder) -> None:
    """Its nodes and its files."""
    other = LabFolder.of(site.folders, "t-other")
    other.write(Record("t-other", "kind", "ready", "node:v1"))
    files(folder)
    engine.set(containers=[*engine.nodes(), engine.node("t-other-worker", cluster="t-other")])
    take_down("t-lab", site)
    assert engine.names() == ["t-other-worker"]
    assert other.read()


@pytest.mark.parametrize("with_files", [False, True])
def test_cluster_of_others_is_refused(
    site: Site, engine: FakeEngine, folder: LabFolder, *, with_files: bool
) -> None:
    """Nothing is touched, files of a lab of that name neither."""
    if with_files:
        files(folder)
    engine.set(containers=[engine.node("t-lab-worker", mark="")])
    with pytest.raises(NotReady, match="that this gpu-lab did not make"):
        take_down("t-lab", site)
    assert (engine.names(), folder.path.exists()) == (["t-lab-worker"], with_files)


def test_without_an_engine_it_does_not_claim_to_be_done(
    site: Site, engine: FakeEngine, folder: LabFolder
) -> None:
    """There may be nodes: the files stay, so that the lab can be found again."""
    files(folder)
    engine.set(away="Cannot connect to the Docker daemon")
    with pytest.raises(NotReady, match="no Docker engine answers"):
        take_down("t-lab", site)
    assert folder.read()


def test_nodes_that_stay_keep_the_files(site: Site, engine: FakeEngine, folder: LabFolder) -> None:
    """A clean-up that failed can be tried again."""
    files(folder)
    engine.set(containers=engine.nodes(), stubborn="device is busy")
    with pytest.raises(CleanUpFailed, match="containers of the lab could not be removed"):
        take_down("t-lab", site)
    assert folder.read()


def test_lab_that_is_being_made_is_left_alone(site: Site, engine: FakeEngine) -> None:
    """`down` beside a running `up` would pull its nodes away."""
    engine.set(containers=engine.nodes())
    with (
        alone(site.folders, "t-lab", "gpulab up"),
        pytest.raises(NotReady, match="the lab 't-lab' is in use by another command"),
    ):
        take_down("t-lab", site)
    assert len(engine.names()) == 2


def test_interrupted_removal_says_how_to_go_on(
    site: Site, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of the lab is still there, and the user is told."""
    engine.set(containers=engine.nodes())

    def interrupted(*_: object) -> None:
        raise Interrupted("interrupted by SIGINT")

    monkeypatch.setattr("lab.cluster.kind.cluster.remove", interrupted)
    with pytest.raises(Interrupted, match="some of it is still there") as raised:
        take_down("t-lab", site)
    assert raised.value.commands == ("gpulab down --name t-lab",)
