"""Progress on a terminal."""

import io
import re

import pytest
from rich.console import Console, Group

from lab.cli.spinner import LiveProgress, LiveStep


@pytest.fixture
def terminal() -> io.StringIO:
    """Return what a terminal would be sent."""
    return io.StringIO()


def lines(terminal: io.StringIO) -> list[str]:
    """Return the lines that remain, with their seconds left out."""
    return re.sub(r"\d+\.\d s", "N s", terminal.getvalue()).split("\n")


def test_step_ends_while_another_runs(terminal: io.StringIO) -> None:
    """Each gets its own line with its own seconds when it ends."""
    progress = LiveProgress(terminal)
    with progress.step("Cluster"), progress.step("Image"):
        progress.note("hello")
    assert [line for line in lines(terminal) if line.strip()][-3:] == [
        " · hello",
        " ✓ Image N s",
        " ✓ Cluster N s",
    ]


def test_a_name_between_colons_stays_a_name(terminal: io.StringIO) -> None:
    """No picture is put in its place."""
    progress = LiveProgress(terminal)
    with progress.step("Image a:key:b"):
        progress.note("c:key:d")
    assert [line for line in lines(terminal) if line.strip()][-2:] == [
        " · c:key:d",
        " ✓ Image a:key:b N s",
    ]


def test_failed_step_is_marked(terminal: io.StringIO) -> None:
    """The step that failed is told from those that were done."""
    progress = LiveProgress(terminal)
    with pytest.raises(OSError, match="full"), progress.step("Image [1/2]"):
        raise OSError("disk full")
    assert " ✗ Image [1/2] N s" in lines(terminal)


def test_step_that_was_done_already_says_so(terminal: io.StringIO) -> None:
    """A cached step has no seconds worth telling."""
    with LiveProgress(terminal).step("Image") as step:
        step.cached()
    assert " ✓ Image already there" in lines(terminal)


def test_a_long_detail_is_cut_in_a_row_of_its_own(terminal: io.StringIO) -> None:
    """Below the title, which may be cut as well: nothing breaks into more rows."""
    step = LiveStep("Cluster " * 10)
    step.update("pod p: runs; so far: " + "Pending " * 10)
    Console(file=terminal, width=40).print(Group(step.row()))
    first, second, rest = terminal.getvalue().split("\n")
    assert "Cluster Cluster" in first
    assert second.strip().startswith("pod p: runs; so far: Pending")
    assert (first.strip()[-1], second.strip()[-1], rest) == ("…", "…", "")
