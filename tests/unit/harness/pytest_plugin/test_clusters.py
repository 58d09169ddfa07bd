"""Labs on clusters that are there: handed over by a fixture, named by an option, or lent."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.cluster.record import LabFolder, Record
from lab.host.folders import Folders
from lab.install.lock import alone
from tests.unit.harness.pytest_plugin.project import Project
from tests.unit.stand_ins.api_server import FakeApi, node, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig

PASSES = "def test_it(gpu_lab):\n    pass\n"
TAKES_DOWN = """
import subprocess
import sys

DOWN = (sys.executable, "-m", "lab.cli.main", "down", "--name", "mine")

def test_it(gpu_lab):
    ended = subprocess.run(DOWN, check=False, capture_output=True, text=True)
    assert ended.returncode == 3
    assert "the lab 'mine' is in use by another command" in ended.stderr
    assert "seen:  pytest, process " in ended.stderr
"""
RETURNS_NONE = """
import pytest

@pytest.fixture(scope="session")
def lab_kubeconfig():
    return None
"""
PASSES_ON = """
import pytest

@pytest.fixture(scope="session")
def lab_kubeconfig(lab_kubeconfig):
    return str(lab_kubeconfig)
"""
HANDS_OVER = """
import pathlib
import pytest

@pytest.fixture(scope="session")
def their_cluster():
    file = pathlib.Path("their-kubeconfig")
    file.write_text("theirs")
    yield file
    file.write_text("gone")
    with open(f"{FOLDER}/told", "a") as told:
        told.write("their cluster goes\\n")

@pytest.fixture(scope="session")
def lab_kubeconfig(their_cluster):
    return their_cluster
"""


def handing_over(project: Project) -> str:
    """Return a conftest that hands a cluster over."""
    return f"FOLDER = {str(project.labs)!r}\n{HANDS_OVER}"


def test_a_lab_leaves_a_cluster_that_was_handed_over_before_that_goes(project: Project) -> None:
    """Afterwards nobody could take its plugins away."""
    project.write(conftest=handing_over(project), test_it=PASSES)
    ended = project.run()
    assert ended.code == 0, ended.text
    made, closed, removed, gone = project.told
    assert made.endswith("chapter:2 workers=1")
    assert (closed, gone) == ("closed test-it", "their cluster goes")
    assert removed.startswith("remove ")
    assert project.left() == []


def test_workers_share_the_lab_on_a_cluster(project: Project) -> None:
    """There can be one lab on it only; the last worker to use it takes it away."""
    tests = "".join(f"def test_{each}(gpu_lab):\n    pass\n" for each in "abcd")
    (project.folder / "kubeconfig").write_text("a cluster")
    project.write(test_it=tests)
    ended = project.run("-n", "2", "--lab-kubeconfig", "kubeconfig")
    assert ended.code == 0, ended.text
    made = [each for each in project.told if each.startswith("make")]
    removed = [each for each in project.told if each.startswith("remove")]
    assert len(made) == len(removed)
    assert project.told[-1] == removed[-1]
    assert project.left() == []


def test_a_cluster_where_not_all_is_allowed_is_one_error(project: Project) -> None:
    """Labs are real here, and the cluster is not; nothing is left in it, nor on disk."""
    cluster = FakeApi(denied={("create", "secrets")})
    cluster.add(node("their-control-plane"), node("their-worker"))
    tests = "".join(f"def test_{each}(gpu_lab):\n    pass\n" for each in "abc")
    project.write(test_it=tests)
    with serving(cluster):
        write_kubeconfig(project.folder / "theirs", cluster.address)
        ended = replace(project, stand_in="").run("-rs", "--lab-kubeconfig", "theirs")
    assert ended.code == 1
    assert "2 skipped, 1 error in" in ended.text
    assert ended.text.count("not allowed: create secrets in kube-system") == 1
    assert "the lab could not be set up: see the first error" in ended.text
    asked = [each for each in cluster.requests if "reviews" in each.path]
    assert asked
    assert [each for each in cluster.requests if each.method != "GET" and each not in asked] == []
    assert project.left() == []


def test_a_lab_that_is_used_stays(project: Project) -> None:
    """Fleets are placed on it, and nothing is removed."""
    project.write(test_it=PASSES)
    ended = project.run("--lab-use", "mine")
    assert ended.code == 0, ended.text
    assert project.told == ["place mine chapter:2", "closed test-it"]
    assert project.left() == ["x-x-x-mine"]


def test_two_runs_do_not_use_one_lab(project: Project) -> None:
    """The second one is refused before it does anything."""
    project.write(test_it=PASSES)
    with alone(Folders(project.state, project.cache), "mine", "gpulab run"):
        ended = project.run("--lab-use", "mine")
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "--lab-use mine: the lab 'mine' is in use by another command" in ended.text
    assert project.told == []


def test_a_lab_that_is_used_is_not_taken_down_by_another_command(project: Project) -> None:
    """For as long as the run lasts, also where its tests are in other processes."""
    project.write(test_it=TAKES_DOWN)
    ended = project.run("--lab-use", "mine", "-n", "1")
    assert ended.code == 0, ended.text


def test_evidence_that_cannot_be_written_is_told_before_a_lab_is_made(project: Project) -> None:
    """A lab takes a minute, and a file is where the folder should be."""
    Path(project.folder / "kept").write_text("")
    project.write(test_it=PASSES)
    ended = project.run("--lab-evidence", "kept")
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "the evidence of a failed test cannot be written" in ended.text
    assert project.told == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--lab-backend=kind",),
            "--lab-backend kind: for a cluster of kind, and the fixture lab_kubeconfig for one",
        ),
        (
            ("--lab-node-image=i",),
            "--lab-node-image: for a cluster of kind, and the fixture lab_kubeconfig for one",
        ),
        (
            ("--lab-use=mine",),
            "the fixture lab_kubeconfig: for a lab that is made for the run, and --lab-use mine",
        ),
        (
            ("--lab-kubeconfig=own",),
            "--lab-kubeconfig names a cluster, and the fixture lab_kubeconfig hands over another",
        ),
    ],
)
def test_options_that_contradict_a_fixture_are_one_error(
    project: Project, options: tuple[str, ...], told: str
) -> None:
    """Nobody would know otherwise which of the two clusters the tests were on."""
    tests = "".join(f"def test_{each}(gpu_lab):\n    pass\n" for each in "ab")
    project.write(conftest=handing_over(project), test_it=tests)
    ended = project.run(*options)
    assert ended.code == 1
    assert "1 skipped, 1 error in" in ended.text
    assert ended.text.count(told) == 1
    assert [each for each in project.told if "cluster goes" not in each] == []


@pytest.mark.parametrize(
    ("conftest", "options", "told"),
    [
        (
            RETURNS_NONE,
            ("--lab-kubeconfig=own",),
            "--lab-kubeconfig names a cluster, and the fixture lab_kubeconfig hands over none",
        ),
        (
            "",
            ("--lab-context=prod", "--lab-nodes=a"),
            "next:  name it with --lab-kubeconfig or the fixture lab_kubeconfig, or leave out",
        ),
        (
            "",
            ("--lab-backend=existing",),
            "--lab-backend existing: for a cluster that is there already, and nothing names its",
        ),
    ],
)
def test_options_of_a_cluster_that_nothing_names_are_refused(
    project: Project, conftest: str, options: tuple[str, ...], told: str
) -> None:
    """A cluster of kind would be made instead, and the tests would say nothing of theirs."""
    project.write(conftest=conftest, test_it=PASSES)
    ended = project.run(*options)
    assert ended.code == 1
    assert told in ended.text
    assert project.told == []


def test_a_fixture_that_returns_what_the_option_names_is_no_contradiction(
    project: Project,
) -> None:
    """It may have looked at it, or made it a text."""
    (project.folder / "kubeconfig").write_text("a cluster")
    project.write(conftest=PASSES_ON, test_it=PASSES)
    ended = project.run("--lab-kubeconfig", "kubeconfig", "--lab-nodes", "a")
    assert ended.code == 0, ended.text


@pytest.mark.parametrize("options", [(), ("-n", "1")])
def test_a_lab_that_is_used_is_on_the_backend_that_is_asked_for(
    project: Project, options: tuple[str, ...]
) -> None:
    """What the tests are to hold on is not what the lab is on."""
    folder = LabFolder.of(Folders(project.state, project.state), "mine")
    folder.write(Record("mine", "existing", "ready"))
    project.write(test_it=PASSES)
    ended = project.run("--lab-use", "mine", "--lab-backend", "kind", *options)
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert (
        "ERROR: --lab-use mine: --lab-backend kind: the lab 'mine' is on the backend 'existing'\n"
        "  next:  leave out the one or the other\n"
    ) in ended.text
    assert project.told == []
