"""Tests of a project get labs by the plugin."""

import re

from lab.core.errors import NotReady
from tests.unit.harness.pytest_plugin.project import Project

TWO_FLEETS = """
import pytest

def test_one(gpu_lab, lab_namespace):
    assert gpu_lab.namespace == lab_namespace

@pytest.mark.gpu_lab(fleet="three-vendors")
def test_three(gpu_lab):
    assert gpu_lab.name.startswith("pytest-")

def test_again(gpu_lab):
    pass
"""
ONE = "def test_one(gpu_lab):\n    pass\n"


def test_a_lab_is_made_once_and_removed_at_the_end(project: Project) -> None:
    """Fleets take turns on it; the largest one says how many workers it has."""
    project.write(test_it=TWO_FLEETS)
    ended = project.run()
    assert ended.code == 0, ended.text
    assert project.told == [
        "make own-0 chapter:2 workers=3",
        "closed test-one",
        "place own-0 nvidia:8,amd:8,ascend:8",
        "closed test-three",
        "place own-0 chapter:2",
        "closed test-again",
        "remove own-0",
    ]
    assert project.left() == []


def test_a_run_without_labs_writes_nothing(project: Project) -> None:
    """The plugin is in every project that has gpu-lab installed."""
    empty = "def test_it():\n    pass\n"
    project.write(a__conftest="", a__test_a=empty, b__conftest="", b__test_b=empty)
    assert project.run().code == 0
    assert not project.state.exists()
    assert not (project.folder / "lab-evidence").exists()


def test_collecting_alone_makes_nothing(project: Project) -> None:
    """Nor does it touch the state folder."""
    project.write(test_it=ONE)
    assert project.run("--collect-only").code == 0
    assert project.told == []
    assert not project.state.exists()


def test_the_machine_is_checked_instead_of_running_tests(project: Project) -> None:
    """As `gpulab doctor` does, whose exit code is pytest's; here no Docker engine answers."""
    project.write(test_it=f"print('was collected')\n{ONE}")
    ended = project.run("-s", "--lab-doctor", DOCKER_HOST="unix:///nowhere")
    assert ended.code == NotReady.exit_code
    assert re.search(r"^docker +fail ", ended.text, re.MULTILINE)
    assert "error: this machine is not ready: docker" in ended.text
    assert "was collected" not in ended.text
    assert project.told == []
    assert not project.state.exists()


def test_options_that_are_set_are_in_the_header(project: Project) -> None:
    """Be they set on the command line or in the environment."""
    project.write(test_it=ONE)
    ended = project.run("--lab-keep=failed", GPULAB_LAB_CLUSTERS="2")
    assert "\ngpu-lab: --lab-clusters=2, --lab-keep=failed\n" in ended.text


def failing(project: Project, what: str, outcome: str, words: str) -> list[str]:
    """Let something fail, see that it is told once, and return what became of labs."""
    project.write(test_it=TWO_FLEETS)
    ended = project.run("-rs", FAKE_FAILS=what)
    assert ended.code == 1
    assert outcome in ended.text
    assert ended.text.count(words) == 1
    assert "the lab could not be set up: see the first error" in ended.text
    return project.told


def test_setup_that_fails_is_told_once(project: Project) -> None:
    """One error with the lab's own words; the other tests refer to it."""
    told = failing(project, "make", "2 skipped, 1 error in", "no Docker engine answers")
    assert told == ["make own-0 chapter:2 workers=3", "remove own-0"]


def test_a_fleet_that_cannot_be_placed_is_told_once(project: Project) -> None:
    """The devices may come on no lab: nobody waits for them test by test."""
    told = failing(project, "place", "1 passed, 1 skipped, 1 error in", "the devices did not come")
    assert told[-2:] == ["place own-0 nvidia:8,amd:8,ascend:8", "remove own-0"]


def test_what_keeps_the_run_from_having_labs_is_told_once(project: Project) -> None:
    """It is an error of the session, of which pytest would tell for every test."""
    words = "the run's files cannot be written"
    assert failing(project, "folder", "2 skipped, 1 error in", words) == []


def test_a_lab_that_cannot_be_removed_fails_the_run(project: Project) -> None:
    """All tests have passed, and the exit code is not 0."""
    project.write(test_it=ONE)
    ended = project.run(FAKE_FAILS="remove")
    assert ended.code == 1
    assert "1 passed" in ended.text
    assert "left behind: containers of the lab could not be removed" in ended.text


def test_labs_of_a_run_that_was_killed_are_removed_by_the_next(project: Project) -> None:
    """It knows them by the files of that run, whose lock nobody holds."""
    project.write(test_it="import os\ndef test_it(gpu_lab):\n    os.kill(os.getpid(), 9)\n")
    assert project.run().code == -9
    assert len(project.left()) == 2
    project.write(test_it=ONE)
    assert project.run().code == 0
    assert project.told[1:3] == ["remove own-0", "make own-0 chapter:2 workers=1"]
    assert project.left() == []
