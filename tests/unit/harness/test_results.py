"""Results of tests, written and read again."""

from dataclasses import replace
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path

import pytest

from lab.core.errors import UsageError
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


def test_no_results_are_told(tmp_path: Path) -> None:
    """With the command that makes some."""
    with pytest.raises(UsageError) as raised:
        results_in(tmp_path)
    assert raised.value.what == "there are no results of tests"
    assert raised.value.where == str(tmp_path)


@pytest.mark.parametrize("text", ["", "{", '{"test": "x"}', '{"test": 1}', "\xff"])
def test_a_file_that_is_no_result_is_told(tmp_path: Path, text: str) -> None:
    """By its path, and what is wrong with it."""
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "result.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError) as raised:
        results_in(tmp_path)
    assert raised.value.what == "a result of a test cannot be read"
    assert raised.value.where == str(tmp_path / "x" / "result.json")
    assert raised.value.seen
