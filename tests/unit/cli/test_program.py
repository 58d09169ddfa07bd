"""A command that is printed to be pasted can be pasted."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.cli.program import program, to_paste


@pytest.fixture
def in_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let `gpulab` be started by its path, as `make` does, with nothing on the PATH."""
    monkeypatch.setattr(sys, "argv", [".venv/bin/gpulab", "up"])
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("in_checkout")
def test_program_that_is_not_on_the_path_is_named_by_its_own() -> None:
    """As it was started, so that it works in the same folder."""
    assert program() == ".venv/bin/gpulab"
    assert to_paste("next: x\n $ gpulab down --name a") == (
        "next: x\n $ .venv/bin/gpulab down --name a"
    )


@pytest.mark.usefixtures("in_checkout")
def test_program_on_the_path_goes_by_its_name(put_on_path: Callable[[str, str], Path]) -> None:
    """The short form is the one to learn."""
    put_on_path("gpulab", "exit 0")
    assert to_paste("$ gpulab down") == "$ gpulab down"


def test_program_started_otherwise_goes_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m` has no path of its own that could be typed."""
    monkeypatch.setattr(sys, "argv", ["lab/cli/main.py"])
    monkeypatch.setenv("PATH", "")
    assert program() == "gpulab"
