"""Labs in a run of several processes, and what is left of it however it ends."""

import os
import signal

import pytest

from tests.unit.harness.pytest_plugin.project import Project
from tests.unit.waiting import wait_until

FOUR = "".join(f"def test_{each}(gpu_lab):\n    pass\n" for each in "abcd")
CRASHES = """
import os

def test_crashes(gpu_lab):
    os._exit(1)

def test_holds(gpu_lab):
    pass
"""
WAITS = """
import pathlib
import time

def test_waits(gpu_lab):
    pathlib.Path("begun").touch()
    time.sleep(60)
"""
THREE = """
import pytest

def test_a(gpu_lab):
    pass

@pytest.mark.gpu_lab(fleet="three-vendors")
def test_b(gpu_lab):
    pass

@pytest.mark.xdist_group("mine")
def test_c(gpu_lab):
    pass
"""
WRITES_GROUPS = """
import pathlib

def pytest_collection_finish(session):
    groups = [item.get_closest_marker("xdist_group").args[0] for item in session.items]
    if groups:
        pathlib.Path("groups").write_text(" ".join(groups))
"""
#: Both ask for a lab, and one process stands above them.
TWO = ("-n", "2")


def test_workers_share_a_lab(project: Project) -> None:
    """Made by one of them, and removed once, by the process that is above them."""
    project.write(test_it=FOUR)
    ended = project.run(*TWO)
    assert ended.code == 0, ended.text
    assert project.told[0] == "make own-0 chapter:2 workers=1"
    assert project.told[-1] == "remove own-0"
    assert len(project.told) == 6
    assert project.left() == []


def test_a_worker_that_crashes_leaves_nothing(project: Project) -> None:
    """Its lab is made anew for the next test, for nobody knows what is on it."""
    project.write(test_it=CRASHES)
    ended = project.run("-n", "1")
    assert "1 failed, 1 passed" in ended.text
    assert project.told.count("make own-0 chapter:2 workers=1") == 2
    assert project.left() == []


@pytest.mark.parametrize("arguments", [(), TWO], ids=["alone", "workers"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_an_interrupted_run_leaves_nothing(
    project: Project, arguments: tuple[str, ...], number: int
) -> None:
    """A terminal's Ctrl-C reaches all processes, SIGTERM the one above alone."""
    project.write(test_it=WAITS)
    begun = project.folder / "begun"
    with project.running(*arguments) as child:
        wait_until("a test has a lab", begun.exists, 60)
        send = os.killpg if number == signal.SIGINT else os.kill
        send(child.pid, number)
        text, _ = child.communicate(timeout=100)
    assert child.returncode == pytest.ExitCode.INTERRUPTED, text
    assert project.told[-2:] == ["left test-waits", "remove own-0"]
    assert project.left() == []


def test_a_worker_is_ended_in_the_middle_of_a_creation(project: Project) -> None:
    """The process above it waits for that, and then removes what there is."""
    project.write(test_it=FOUR)
    with project.running(*TWO, FAKE_SLOW="make") as child:
        wait_until("a lab is being made", lambda: bool(project.told), 60)
        child.terminate()
        child.communicate(timeout=100)
    assert project.told == ["make own-0 chapter:2 workers=1", "remove own-0"]
    assert project.left() == []


def test_groups_are_made_by_fleet(project: Project) -> None:
    """A change of fleets costs more than anything else; a group of the test's own stays."""
    project.write(conftest=WRITES_GROUPS, test_it=THREE)
    assert project.run(*TWO, "--dist", "loadgroup").code == 0
    one, three, own = (project.folder / "groups").read_text().split()
    assert one.startswith("chapter-")
    assert three.startswith("nvidia-amd-ascend-")
    assert own == "mine"
