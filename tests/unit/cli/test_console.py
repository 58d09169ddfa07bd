"""Progress for a log: plain lines, and no animation whatever the colour settings say."""

import io
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TextIO

import pytest

from lab.cli.console import PlainProgress, progress_for
from lab.cli.spinner import LiveProgress

LINE = re.compile(r"^ +\d+\.\d s (.*)$")
SECONDS = re.compile(r"\d+\.\d s")


@pytest.fixture
def log() -> io.StringIO:
    """Return a stream that is no terminal."""
    return io.StringIO()


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """Return a terminal of which nobody looks at the other side."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as stream:
        yield stream
    os.close(ours)


@pytest.fixture
def broken() -> Iterator[TextIO]:
    """Return a stream whose reader has gone."""
    reader, writer = os.pipe()
    os.close(reader)
    stream = os.fdopen(writer, "w")
    yield stream
    with suppress(BrokenPipeError):
        stream.close()


def lines(log: io.StringIO) -> list[str]:
    """Return the lines of the log, with N for the seconds in them."""
    said = [LINE.fullmatch(line) for line in log.getvalue().splitlines()]
    return [SECONDS.sub("N s", each[1]) for each in said if each]


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({}, LiveProgress),
        ({"TERM": "xterm-256color", "CI": ""}, LiveProgress),
        ({"CI": "true"}, PlainProgress),
        ({"CI": "true", "FORCE_COLOR": "1"}, PlainProgress),
        ({"TERM": "dumb"}, PlainProgress),
    ],
)
def test_terminal_gets_a_spinner_outside_of_ci(
    terminal: TextIO, environment: dict[str, str], kind: type
) -> None:
    """Many a CI has a terminal, and nobody in front of it."""
    assert type(progress_for(terminal, environment)) is kind


@pytest.mark.parametrize("environment", [{}, {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}])
def test_pipe_gets_plain_lines(log: io.StringIO, environment: dict[str, str]) -> None:
    """Each begins with the seconds so far; a step has one where it begins and one where it ends."""
    progress = progress_for(log, environment)
    progress.note("backend kind")
    with progress.step("Creating") as step:
        step.update("1 of 3")
    assert lines(log) == ["· backend kind", "• Creating …", "✓ Creating (N s)"]
    assert "\x1b" not in log.getvalue()


def test_step_that_was_done_already_says_so(log: io.StringIO) -> None:
    """Its seconds would say nothing."""
    with progress_for(log, {}).step("Building") as step:
        step.cached()
    assert lines(log)[1:] == ["✓ Building (already there)"]


def test_step_that_fails_is_marked(log: io.StringIO) -> None:
    """And its error goes on."""
    with pytest.raises(ValueError, match="no"), progress_for(log, {}).step("Building"):
        raise ValueError("no")
    assert lines(log)[1:] == ["✗ Building (N s)"]


def test_steps_side_by_side_keep_their_lines_apart(log: io.StringIO) -> None:
    """The one that began first may end last."""
    progress = progress_for(log, {})
    with progress.step("Cluster"), progress.step("Image"):
        pass
    assert lines(log) == ["• Cluster …", "• Image …", "✓ Image (N s)", "✓ Cluster (N s)"]


def test_work_goes_on_though_nobody_reads(broken: TextIO) -> None:
    """`gpulab up 2>&1 | head -1` is no reason to take the lab away again."""
    progress = progress_for(broken, {})
    with progress.step("Creating"):
        progress.note("a word")


def test_work_goes_on_though_the_terminal_is_closed() -> None:
    """The spinner too has to outlast it: what was begun is to be cleaned up."""
    ours, theirs = os.openpty()
    stream = os.fdopen(theirs, "w")
    progress = progress_for(stream, {})
    with progress.step("Creating"):
        os.close(ours)
        progress.note("a word")
    with suppress(OSError):
        stream.close()
