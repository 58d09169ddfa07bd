"""`gpulab report`: where the page goes, and why it cannot."""

import os
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from lab.cli.main import run
from tests.unit.cli.two_nodes import Output
from tests.unit.harness.reported import passed


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with one result."""
    passed().write(tmp_path / "run" / "001")
    return tmp_path / "run"


@pytest.mark.parametrize(("system", "opener"), [("linux", "xdg-open"), ("darwin", "open")])
def test_page_is_beside_the_results(
    results: Path, system: str, opener: str, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path is printed, and behind it what opens it on this system."""
    monkeypatch.setattr(sys, "platform", system)
    assert run(["report", str(results)]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{results}/report.html\n"
    assert printed.err == f"  $ {opener} {(results / 'report.html').as_uri()}\n"
    assert (results / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_results_of_earlier_runs_are_left_out_and_that_is_said(
    results: Path, capsys: Output
) -> None:
    """They are still in the folder: the command that shows them is printed, and does so."""
    later = passed()
    later = replace(later, run="later", test="later", started=later.started + timedelta(hours=1))
    later.write(results / "later")
    assert run(["report", str(results)]) == 0
    assert capsys.readouterr().err.splitlines()[:2] == [
        "  1 result of earlier runs left out; with them:",
        f"  $ gpulab report {results} --all-runs",
    ]
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "<code>later</code>" in page
    assert "<code>001-oversubscription</code>" not in page
    assert "Results of earlier runs in the same folder, which --all-runs shows: 1" in page
    assert run(["report", str(results), "--all-runs"]) == 0
    assert "earlier runs" not in capsys.readouterr().err
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "<code>001-oversubscription</code>" in page
    assert "earlier runs" not in page


def test_page_is_where_it_is_told_to_be(results: Path, tmp_path: Path) -> None:
    """In the language that is asked for; what was there is replaced."""
    file = tmp_path / "x.html"
    file.write_text("old")
    assert run(["report", str(results), "--output", str(file), "--language", "zh"]) == 0
    assert "超额申请" in file.read_text(encoding="utf-8")
    assert not (results / "report.html").exists()


def test_link_in_the_place_of_the_page_is_not_followed(results: Path, tmp_path: Path) -> None:
    """A folder that somebody has sent may have one to any file of the user's."""
    (tmp_path / "mine").write_text("mine")
    (results / "report.html").symlink_to(tmp_path / "mine")
    assert run(["report", str(results)]) == 0
    assert (tmp_path / "mine").read_text() == "mine"
    assert (results / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_pipe_in_the_place_of_the_page_is_replaced(results: Path) -> None:
    """Nobody reads from it."""
    os.mkfifo(results / "report.html")
    assert run(["report", str(results)]) == 0
    assert (results / "report.html").is_file()


def test_page_can_be_written_where_a_link_leads_that_was_named(
    results: Path, tmp_path: Path
) -> None:
    """As to /dev/stdout."""
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    assert run(["report", str(results), "--output", str(tmp_path / "link.html")]) == 0
    assert (tmp_path / "page.html").is_file()


def test_folder_without_results_is_code_2(tmp_path: Path, capsys: Output) -> None:
    """With the command that makes some; nothing is written."""
    assert run(["report", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err == (
        "error: there are no results of tests\n"
        f"  where: {tmp_path / 'none'}\n"
        "  seen:  No such file or directory\n"
        "  next:  run tests or scenarios, or name the folder that they were told to write to\n"
        "         $ gpulab run --evidence lab-evidence\n"
    )


def test_result_that_cannot_be_read_is_code_2(results: Path, capsys: Output) -> None:
    """By its file; an older page stays as it was."""
    (results / "002").mkdir()
    (results / "002" / "result.json").write_text("{")
    (results / "report.html").write_text("old")
    assert run(["report", str(results)]) == 2
    assert f"where: {results}/002/result.json" in capsys.readouterr().err
    assert (results / "report.html").read_text() == "old"


def test_name_that_hides_something_is_told_so_that_it_is_seen(
    results: Path, capsys: Output
) -> None:
    """A terminal would act on it, or turn its line around."""
    odd = results / os.fsdecode(b"\x1b[31m\xe2\x80\xae\xe2\x80\x8b\xff")
    odd.mkdir()
    (odd / "result.json").write_text("{")
    assert run(["report", str(results)]) == 2
    where = capsys.readouterr().err.splitlines()[1]
    assert where == f"  where: {results}/␛[31m\\u202e\\u200b\\udcff/result.json"


def test_folder_whose_name_is_no_text_has_a_page(
    results: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Its path is printed as it is."""
    odd = results.rename(results.parent / os.fsdecode(b"\xff"))
    assert run(["report", str(odd)]) == 0
    assert capfdbinary.readouterr().out == os.fsencode(odd) + b"/report.html\n"
    assert (odd / "report.html").exists()


def test_page_that_cannot_be_written_is_code_2(results: Path, capsys: Output) -> None:
    """With the system's reason."""
    file = results / "none" / "x.html"
    assert run(["report", str(results), "--output", str(file)]) == 2
    assert capsys.readouterr().err == (
        "error: the page cannot be written\n"
        f"  where: {file}\n"
        "  seen:  No such file or directory\n"
        "  next:  name a file in a folder that is there and may be written to\n"
        "         $ gpulab report lab-evidence --output report.html\n"
    )
