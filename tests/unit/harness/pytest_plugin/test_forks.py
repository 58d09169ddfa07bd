"""Processes that a test forks, and that go on as pytest does."""

import pytest

from tests.unit.harness.pytest_plugin.project import Project

#: Its child returns, raises, or ends as a program does; the parent waits for it.
FORKS = """
import os, sys
import pytest

def fork():
    child = os.fork()
    if child:
        print('the child ended by', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return not child

@pytest.fixture
def own(gpu_lab):
    yield
    {at_the_end}

def test_forks(gpu_lab, own):
    gpu_lab.afterwards.once('', undo=lambda: print('undone in', os.getpid() == {parent}))
    {body}

def test_next(gpu_lab):
    pass
"""
RETURNS = "if fork(): return"


def forking(body: str = "pass", at_the_end: str = "pass") -> str:
    """Return tests of which the first one forks."""
    return f"import os\nPARENT = os.getpid()\n{FORKS}".format(
        body=body, at_the_end=at_the_end, parent="PARENT"
    )


@pytest.mark.parametrize(
    ("test", "options"),
    [
        (forking(RETURNS), ""),
        (forking(RETURNS), "-n 1"),
        (forking("if fork(): sys.exit(0)"), ""),
        (forking(at_the_end=RETURNS), ""),
    ],
    ids=["returns", "in-a-worker", "exits", "at-the-end"],
)
def test_a_forked_child_that_goes_on_ends_with_its_test(
    project: Project, test: str, options: str
) -> None:
    """Only the parent undoes what was done, goes on to the next test, and takes the lab down."""
    project.write(test_it=test)
    ended = project.run("-rP", *options.split())
    assert ended.code == 0, ended.text
    assert project.told == [
        "make own-0 chapter:2 workers=1",
        "closed test-forks",
        "closed test-next",
        "remove own-0",
    ]
    assert project.left() == []
    assert ended.text.count("the child ended by 1") == 1
    assert ended.text.count("undone in True") == 1
    assert "goes on as pytest does, whose labs are not its own: it is ended here" in ended.text


def test_a_child_of_a_test_without_a_lab_takes_no_lab_down_either(project: Project) -> None:
    """Labs are those of the run that its parent is in."""
    project.write(
        test_a="import os\ndef test_forks():\n    child = os.fork()\n"
        "    assert not child or os.waitpid(child, 0)[1]\n",
        test_b="def test_one(gpu_lab):\n    pass\n",
    )
    ended = project.run()
    assert ended.code == 0, ended.text
    assert project.told == ["make own-0 chapter:2 workers=1", "closed test-one", "remove own-0"]


def test_a_run_without_labs_is_not_looked_at(project: Project) -> None:
    """The plugin is in every project that has gpu-lab installed."""
    project.write(
        test_it="import os\ndef test_forks():\n    child = os.fork()\n"
        "    assert not child or os.waitpid(child, 0)[1] == 0\n"
    )
    ended = project.run()
    assert (ended.code, ended.text.count("1 passed")) == (0, 2)
