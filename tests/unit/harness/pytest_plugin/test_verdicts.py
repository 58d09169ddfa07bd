"""What a result says of a test, however the test ends."""

import json

import pytest

from tests.unit.harness.pytest_plugin.project import Project

PASSES = "def test_it(gpu_lab):\n    pass\n"
UNSEEN = "It has begun, and nobody saw its end: the run ended before, or its process."


def a_test(body: str, before: str = "", arguments: str = "gpu_lab") -> str:
    """Return a module with one test."""
    return f"import os\nimport pytest\n{before}\ndef test_it({arguments}):\n    {body}\n"


def result(project: Project) -> dict[str, object]:
    """Return the result of the one test."""
    (file,) = (project.folder / "lab-evidence").glob("*/result.json")
    found: dict[str, object] = json.loads(file.read_text())
    return found


AFTER = "@pytest.fixture\ndef own(gpu_lab):\n    yield\n    raise ValueError('not put away')\n"
CTRL_C = "os.kill(os.getpid(), 2)"
CTRL_C_AFTER = AFTER.replace("raise ValueError('not put away')", CTRL_C)
CTRL_C_AT_THE_END = f"gpu_lab.afterwards.once('', undo=lambda: {CTRL_C})"
BEFORE = "@pytest.fixture\ndef own():\n    raise ValueError('not to be had')\n"


@pytest.mark.parametrize(
    ("test", "options", "verdict", "says"),
    [
        (a_test("pass"), "", "passed", ""),
        (a_test("assert 1 == 2"), "", "failed", "assert 1 == 2"),
        (a_test("pass", AFTER, "own"), "", "failed", "ValueError: not put away"),
        (a_test("pass", BEFORE, "own, gpu_lab"), "", "failed", "ValueError: not to be had"),
        (a_test("pass", "@pytest.mark.skip('not today')"), "", "skipped", "not today"),
        (a_test("pytest.skip('not now')"), "", "skipped", "not now"),
        (
            a_test("assert 1 == 2", "@pytest.mark.xfail(reason='a known bug')"),
            "",
            "skipped",
            "expected to fail: a known bug",
        ),
        (a_test("pytest.exit('enough', 0)"), "", "failed", UNSEEN),
        (a_test("os._exit(1)"), "-n 1", "failed", UNSEEN),
        (a_test(CTRL_C), "", "failed", UNSEEN),
        (a_test("pass", CTRL_C_AFTER, "own"), "", "passed", ""),
        (a_test(CTRL_C_AT_THE_END), "", "passed", ""),
        (a_test("assert 1 == 2", CTRL_C_AFTER, "own"), "", "failed", "assert 1 == 2"),
    ],
    ids=[
        *("passes", "fails", "teardown", "setup", "marked", "skip", "xfail", "exit", "crash"),
        *("ctrl-c", "ctrl-c-after", "ctrl-c-at-the-end", "ctrl-c-after-a-failure"),
    ],
)
def test_a_result_says_how_the_test_ended(
    project: Project, test: str, options: str, verdict: str, says: str
) -> None:
    """In the place of what a run before it has left, which had passed."""
    project.write(test_it=PASSES)
    assert project.run().code == 0
    project.write(test_it=test)
    project.run(*options.split())
    found = result(project)
    assert found["verdict"] == verdict
    assert says in str(found["report"])
    # A skip is told in its own words, a failure as pytest tells it.
    assert verdict == "failed" or found["report"] == says


def test_evidence_that_ctrl_c_breaks_off_is_told_of_at_the_end(project: Project) -> None:
    """Its folder says so as well, and stays."""
    stops = "def look(*_):\n    " + CTRL_C + "\n    return []\n"
    body = "type(gpu_lab).nodes = look; assert 1 == 2"
    project.write(test_it=a_test(body, stops))
    ended = project.run()
    (folder,) = (project.folder / "lab-evidence").iterdir()
    cut = "whatever else there was: the gathering was broken off: SIGINT\n"
    assert (folder / "missing.txt").read_text().endswith(cut)
    assert (folder / "failure.txt").exists()
    assert "is not complete: see missing.txt there" in ended.text
    assert "assert 1 == 2" in str(result(project)["report"])


def test_a_test_for_which_no_lab_can_be_made_has_failed(project: Project) -> None:
    """The next one is skipped; neither is left as it was in the run before."""
    project.write(test_it=PASSES.replace("it", "a") + PASSES.replace("it", "b"))
    assert project.run().code == 0
    project.run(FAKE_FAILS="make")
    files = sorted((project.folder / "lab-evidence").glob("*/result.json"))
    found = [json.loads(file.read_text()) for file in files]
    assert [each["verdict"] for each in found] == ["failed", "skipped"]
    assert "no Docker engine answers" in found[0]["report"]
    assert found[1]["report"] == "the lab could not be set up: see the first error"
    assert len({each["run"] for each in found}) == 1


def test_a_report_tells_of_a_test_as_its_marker_does(project: Project) -> None:
    """By titles and a section."""
    marker = "@pytest.mark.gpu_lab(titles={'en': 'It works', 'zh': '可用'}, section='7.2')"
    project.write(test_it=a_test("pass", marker))
    project.run()
    found = result(project)
    assert found["titles"] == {"en": "It works", "zh": "可用"}
    assert found["section"] == "7.2"


def test_a_folder_that_cannot_be_written_is_the_failure_of_the_test(project: Project) -> None:
    """Here a file is where the test's own folder was to be."""
    project.write(test_it=PASSES)
    assert project.run().code == 0
    file = next((project.folder / "lab-evidence").iterdir())
    for each in file.iterdir():
        each.unlink()
    file.rmdir()
    file.touch()
    ended = project.run()
    assert ended.code == 1
    assert "cannot be written" in ended.text
    assert "Traceback" not in ended.text


@pytest.mark.parametrize(("options", "told"), [("", ""), ("--full-trace", "health.py:")])
def test_a_users_mistake_is_shown_at_the_users_own_line(
    project: Project, options: str, told: str
) -> None:
    """Without the lines of the lab's code, which are of no use to who made it."""
    body = "from lab.cluster.plugin.health import breakage; breakage(xdi=79)"
    project.write(test_it=a_test(body))
    project.run(*options.split())
    report = str(result(project)["report"])
    assert "xdi is not something that this plugin acts on" in report
    assert "breakage(xdi=79)" in report
    assert ("health.py:" in report) == bool(told)


def test_what_was_expected_in_vain_is_shown_at_the_users_own_lines(project: Project) -> None:
    """Those of a failure, and of the ones that the test has caught before it."""
    first, second = (
        f"gpu_lab.expect(Submitted('Pod', 'ns', '{name}', {{}})).running(within=0)" for name in "pq"
    )
    caught = "except AssertionError:\n        "
    body = f"try:\n        {first}\n    {caught}try:\n            {second}\n        {caught}    "
    project.write(test_it=a_test(f"{body}assert 1 == 2", "from lab.harness import Submitted"))
    project.run()
    report = str(result(project)["report"])
    assert "pod p: expected: is running and ready; not within 0 s" in report
    assert "pod q: expected: is running and ready; not within 0 s" in report
    assert [line[1:].strip() for line in report.splitlines() if line.startswith(">")] == [
        first,
        second,
        "assert 1 == 2",
    ]
    assert "expecting.py:" not in report


def test_no_test_gets_the_lab_that_one_before_has_not_given_back(project: Project) -> None:
    """SystemExit in a fixture's end keeps pytest from ending the others."""
    exits = AFTER.replace("raise ValueError('not put away')", "raise SystemExit(0)")
    project.write(test_it=a_test("pass", exits, "own"), test_next=PASSES)
    ended = project.run()
    assert ended.code != 0
    assert "test_it.py::test_it has not given its lab back: a fixture broke off" in ended.text
    assert "1 passed, 1 error" in ended.text
