"""Results of tests, written and read again."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path

import pytest

from lab.core.errors import UsageError
from lab.harness.keeping import keep
from lab.harness.results import Result, newest_run, results_in

FIRST = Result(
    run="a-run",
    test="001-oversubscription",
    verdict="failed",
    started=datetime(2026, 12, 1, 12, tzinfo=UTC),
    seconds=2.25,
    titles={"en": "Too much", "zh": "太多"},
    section="4.10.5",
    backend="kind",
    kubernetes="v1.36.3",
    report="pod p: expected …",
    timelines=({"pod": "p", "steps": [{"number": 1}]},),
    files=("pods.json",),
    missing=("kubelets/w.log: gone",),
    options=("--name", "t"),
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    """All of it, in the order in which the tests began."""
    earlier = replace(FIRST, test="earlier", started=datetime(2026, 12, 1, 11, tzinfo=UTC))
    for each in (FIRST, earlier):
        each.write(tmp_path / each.test)
    found = results_in(tmp_path)
    assert [each.result for each in found] == [earlier, FIRST]
    assert found[1].folder == tmp_path / "001-oversubscription"


def test_what_is_no_character_is_read_again_as_an_escape(tmp_path: Path) -> None:
    """The name of a file that is no UTF-8 is in a failure, an ID and an option."""
    odd = replace(FIRST, test="t.py::x[\udcff]", report="no \udcff", options=("--name", "\udc80"))
    odd.write(tmp_path / "x")
    (found,) = results_in(tmp_path)
    assert found.result.test == "t.py::x[\\udcff]"
    assert found.result.report == "no \\udcff"
    assert found.result.options == ("--name", "\\udc80")


def test_a_result_that_cannot_be_written_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of it would keep the run from having a report."""
    FIRST.write(tmp_path / "x")

    def full(_file: int, _mode: int) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fchmod", full)
    with pytest.raises(OSError, match="No space left"):
        replace(FIRST, report="other").write(tmp_path / "x")
    assert [each.result for each in results_in(tmp_path)] == [FIRST]
    assert [each.name for each in (tmp_path / "x").iterdir()] == ["result.json"]


def test_what_earlier_runs_have_left_is_not_the_newest_run(tmp_path: Path) -> None:
    """A run that began later may have ended earlier: what counts is that one began a test last."""
    minutes = {"a-run": (0, 20), "b-run": (10, 15), "c-run": (5,)}
    for run, begun in minutes.items():
        for minute in begun:
            started = FIRST.started.replace(minute=minute)
            result = replace(FIRST, run=run, test=f"{run}-{minute}", started=started)
            result.write(tmp_path / result.test)
    newest = newest_run(results_in(tmp_path))
    assert [each.result.test for each in newest] == ["a-run-0", "a-run-20"]


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("none", "No such file or directory"),
        ("file", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("empty", "the folder is empty"),
        ("other", "no folder with a result.json is in it"),
        ("x" * 5000, "File name too long"),
    ],
)
def test_no_results_are_told(tmp_path: Path, name: str, seen: str) -> None:
    """With what is there instead, and the command that makes some."""
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "x").mkdir(parents=True)
    with pytest.raises(UsageError) as raised:
        results_in(tmp_path / name)
    assert raised.value.what == "there are no results of tests"
    assert raised.value.where == str(tmp_path / name)
    assert raised.value.seen == seen
    assert raised.value.commands == ("gpulab run --evidence lab-evidence",)


def test_the_folder_of_one_test_is_told(tmp_path: Path) -> None:
    """Of whose failure its path is printed; the command has the folder above it."""
    FIRST.write(tmp_path / "a run" / "x")
    with pytest.raises(UsageError) as raised:
        results_in(tmp_path / "a run" / "x")
    assert raised.value.what == "the folder is that of one test, and a report is of a run"
    assert raised.value.commands == (f"gpulab report '{tmp_path}/a run'",)


def refused(root: Path) -> UsageError:
    """Return the error of a folder in which the result of the test x cannot be read."""
    with pytest.raises(UsageError) as raised:
        results_in(root)
    assert raised.value.what == "a result of a test cannot be read"
    assert raised.value.where == str(root / "x" / "result.json")
    assert raised.value.commands == ("gpulab report lab-evidence",)
    return raised.value


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", "Invalid JSON: EOF while parsing a value"),
        ("\xff", "Invalid JSON: expected value at line 1"),
        ("[" * 100_000, "Invalid JSON: recursion limit exceeded"),
        ('"\\ud800"', "Invalid JSON: "),
        ('{"test": "x"}', "run: Field required"),
    ],
)
def test_a_file_that_is_no_result_is_told(tmp_path: Path, text: str, seen: str) -> None:
    """By its path, and what is wrong with it."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "result.json").write_text(text, encoding="latin-1")
    assert refused(tmp_path).seen.startswith(seen)


PATH = "Should be the path of a file below the test's folder, of names that a file may have"


@pytest.mark.parametrize(
    ("key", "value", "seen"),
    [
        ("started", "2026-12-01T12:00:00", "Input should have timezone info"),
        ("started", "0001-01-01T00:00:00+14:00", "greater than or equal to 1970-01-01"),
        ("started", "9999-12-31T23:59:59-12:00", "less than 3000-01-01"),
        ("seconds", float("nan"), "Input should be a finite number"),
        ("seconds", 1e300, "less than or equal to 1000000000"),
        ("seconds", -1, "greater than or equal to 0"),
        ("verdict", "fine", "Input should be 'passed', 'failed' or 'skipped'"),
        ("titles", {"fr": "x"}, "titles.fr: Input should be 'en' or 'zh'"),
        ("files", ["/etc/passwd"], PATH),
        ("files", ["../x"], PATH),
        ("files", ["a/../../x"], PATH),
        ("files", [""], PATH),
        ("files", ["a\0b"], PATH),
        ("files", ["x" * 5000], PATH),
    ],
)
def test_a_value_that_no_run_writes_is_told(
    tmp_path: Path, key: str, value: object, seen: str
) -> None:
    """By its key and the rule that it breaks, with what is there, on a line that can be read."""
    keep(tmp_path / "x" / "result.json", {**FIRST.as_json(), key: value})
    (line,) = refused(tmp_path).seen.splitlines()
    assert line.startswith(key)
    assert seen in line
    assert len(line) < 250


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    """A pipe would never end."""
    (tmp_path / "x").mkdir()
    os.mkfifo(tmp_path / "x" / "result.json")
    assert refused(tmp_path).seen == "it is no regular file"


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    """As the system says it."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "result.json").symlink_to("result.json")
    assert refused(tmp_path).seen == "Too many levels of symbolic links"


def test_a_file_that_is_too_large_is_told(tmp_path: Path) -> None:
    """Without reading all of it."""
    (tmp_path / "x").mkdir()
    with (tmp_path / "x" / "result.json").open("wb") as file:
        file.truncate(2**40)
    assert refused(tmp_path).seen == "it has more than 64 MiB, and a result has not"
