"""What a test asks of its lab, and what is kept of it."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.harness.pytest_plugin.project import Project

FAILS = "def test_it(gpu_lab):\n    assert 1 == 2\n"
PASSES = "def test_it(gpu_lab):\n    pass\n"
#: What pytest-rerunfailures does: of an attempt that failed, what comes after that is not told.
AGAIN = """
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    attempts = (runtestprotocol(item, log=False, nextitem=nextitem) for _ in range(2))
    for told in (next(attempts)[:1], next(attempts)):
        for report in told:
            item.ihook.pytest_runtest_logreport(report=report)
    return True
"""
FAILS_ONCE = """
import pathlib

def test_it(gpu_lab, record_property):
    record_property("own", "kept")
    tried = pathlib.Path("tried")
    if not tried.exists():
        tried.touch()
        assert 1 == 2
"""


def marked(marker: str, body: str = "pass") -> str:
    """Return a test with a marker."""
    return f"import pytest\n@pytest.mark.gpu_lab({marker})\ndef test_it(gpu_lab):\n    {body}\n"


def test_a_marker_that_nobody_could_serve_is_refused(project: Project) -> None:
    """At collection, with the name of the test; nothing was made."""
    project.write(test_it=marked("fleet='h200'"))
    ended = project.run()
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: test_it.py::test_it: marker gpu_lab: there is no fleet 'h200'" in ended.text
    assert project.told == []


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("backend='existing'", "it holds on existing, and the lab is on kind"),
        ("needs=('run', 'restart')", "the backend kind cannot restart here"),
        ("fleet='three-vendors'", "the fleet needs 3 nodes, and the lab has 2"),
    ],
)
def test_a_test_that_does_not_apply_is_skipped(project: Project, marker: str, reason: str) -> None:
    """With the reason, in the report too; the lab is as good as before for the next one."""
    project.write(test_a=marked(marker), test_b=PASSES)
    ended = project.run("-rs", FAKE_NODES="2")
    assert ended.code == 0, ended.text
    assert reason in ended.text
    (file,) = (project.folder / "lab-evidence").glob("test_a.py-*/result.json")
    result = json.loads(file.read_text())
    assert (result["verdict"], result["report"]) == ("skipped", reason)
    assert sum(each.startswith("make") for each in project.told) == 1


def test_a_failure_has_evidence_and_a_result(project: Project) -> None:
    """Both are in the folder of the test, which the summary names."""
    project.write(test_it=FAILS.replace("    assert", "    print('the operator says')\n    assert"))
    ended = project.run("--lab-evidence", "kept")
    folder = project.folder / "kept" / "test_it.py-test_it-889b5006"
    told = f"evidence: {folder}\n  $ pytest test_it.py::test_it\n"
    beside_the_failure, _, summary = ended.text.partition("= gpu-lab =")
    assert told in beside_the_failure
    # What it says to look at is gone by then.
    assert "  $ pytest test_it.py::test_it -x --lab-keep=failed\n" in beside_the_failure
    assert told in summary
    assert "assert 1 == 2" in (folder / "failure.txt").read_text()
    assert (folder / "output.txt").read_text() == "Captured stdout call\nthe operator says\n\n"
    result = json.loads((folder / "result.json").read_text())
    assert (result["verdict"], result["kubernetes"]) == ("failed", "v1.36.3")


def test_the_summary_says_how_to_run_each_failure_again(project: Project) -> None:
    """From the folder where pytest was, with the options by which it had such a lab."""
    many = "import pytest\n@pytest.mark.parametrize('x', ['a b', 'c@d'])\n"
    failing = f"{many}def test_it(gpu_lab, x):\n    assert 1 == 2\n"
    (project.folder / "pytest.ini").touch()
    project.write(inner__test_it=failing, inner__test_other=PASSES)
    options = ("--lab-backend=kind", "--lab-keep=never", "--lab-evidence=kept")
    given = ("--rootdir", "..", "-n", "1", "--dist", "loadgroup", *options)
    ended = replace(project, folder=project.folder / "inner").run(
        *given, GPULAB_LAB_NODE_IMAGE="nodes:1"
    )
    kept, again = f"{project.folder}/inner/kept", "--lab-backend=kind --lab-node-image=nodes:1"
    assert ended.text.partition("= gpu-lab =")[2].partition("\n")[2].partition("====")[0] == (
        f"evidence: {kept}/inner-test_it.py-test_it-a-b-21dd96fa\n"
        f"  $ pytest 'test_it.py::test_it[a b]' {again}\n"
        f"evidence: {kept}/inner-test_it.py-test_it-c-d-18d43d8b\n"
        f"  $ pytest 'test_it.py::test_it[c@d]' {again}\n"
        "all of it on one page:\n"
        f"  $ gpulab report {kept}\n"
    )
    result = json.loads(
        (Path(kept) / "inner-test_it.py-test_it-a-b-21dd96fa/result.json").read_text()
    )
    assert result["options"] == again.split()


def test_the_command_for_a_file_that_looks_like_an_option_can_be_pasted(project: Project) -> None:
    """Beside the failure, and in the summary."""
    project.write(**{"-odd__test_it": FAILS})
    command = "pytest ./-odd/test_it.py::test_it"
    told = project.run().text
    assert told.count(f"  $ {command}\n") == 2
    _, *arguments = command.split()
    assert project.run(*arguments).code == pytest.ExitCode.TESTS_FAILED


def test_junit_has_what_the_test_ran_on(project: Project) -> None:
    """As properties of the test."""
    project.write(test_it=FAILS)
    project.run("--junitxml=junit.xml")
    report = ET.parse(project.folder / "junit.xml")  # noqa: S314 - it is our own
    found = {each.get("name"): each.get("value") for each in report.iter("property")}
    assert found["gpu_lab.kubernetes"] == "v1.36.3"
    assert found["gpu_lab.backend"] == "kind"
    assert str(found["gpu_lab.lab"]).endswith("-own-0")
    assert str(found["gpu_lab.evidence"]).endswith("/lab-evidence/test_it.py-test_it-889b5006")


def test_a_test_that_passes_when_it_is_run_again_has_passed(project: Project) -> None:
    """What is told of it, in the summary and in the report, is of that attempt alone."""
    project.write(conftest=AGAIN, test_it=FAILS_ONCE)
    ended = project.run("--junitxml=junit.xml")
    assert ended.code == 0, ended.text
    assert "evidence:" not in ended.text
    (file,) = (project.folder / "lab-evidence").glob("*/result.json")
    assert json.loads(file.read_text())["verdict"] == "passed"
    report = ET.parse(project.folder / "junit.xml")  # noqa: S314 - it is our own
    names = [each.get("name") for each in report.iter("property")]
    assert set(names) == {"gpu_lab.backend", "gpu_lab.kubernetes", "gpu_lab.lab", "own"}
    assert names.count("gpu_lab.lab") == 1


@pytest.mark.parametrize(
    ("test", "keep", "stays"),
    [
        (FAILS, "failed", True),
        (PASSES, "failed", False),
        (PASSES, "always", True),
        (FAILS, "never", False),
    ],
)
def test_labs_are_kept_where_that_is_asked_for(
    project: Project, test: str, keep: str, *, stays: bool
) -> None:
    """The summary says how to look at them, and how to remove them."""
    project.write(test_it=test)
    ended = project.run("--lab-keep", keep)
    assert ("  $ gpulab down --name pytest-" in ended.text) == stays
    assert bool(project.left()) == stays


def test_a_failure_that_ends_the_run_can_be_looked_at(project: Project) -> None:
    """With `-x --lab-keep failed` the test's pods are still there."""
    project.write(test_it=FAILS)
    project.run("-x", "--lab-keep", "failed")
    assert project.told == ["make own-0 chapter:2 workers=1", "left test-it"]
