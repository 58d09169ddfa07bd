"""Files that are replaced whole."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_plugin.files.replacement import is_abandoned, remove_abandoned, replace


def test_a_file_has_its_content_and_mode(tmp_path: Path) -> None:
    """Whatever was there before, and whatever this process may make files with."""
    path = tmp_path / "tool"
    path.write_text("old")
    replace(path, ["#!", "/bin/sh"], 0o755)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("#!/bin/sh", 0o755)
    assert [*tmp_path.iterdir()] == [path]


def test_a_file_that_cannot_be_finished_leaves_the_old_one(tmp_path: Path) -> None:
    """And nothing beside it, though its beginning was there."""
    path = tmp_path / "table"
    path.write_text("old")
    begun: list[int] = []

    def content() -> Iterator[str]:
        yield "new"
        begun.append(len([*tmp_path.iterdir()]))
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        replace(path, content(), 0o644)
    assert (begun, path.read_text(), [*tmp_path.iterdir()]) == ([2], "old", [path])


@pytest.mark.parametrize("durable", [True, False])
def test_what_is_durable_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, durable: bool
) -> None:
    """A rename that outlives a loss of power must not lead to an empty file."""
    path = tmp_path / "state"
    there: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda _: there.append(path.exists()))
    replace(path, ["new"], 0o644, durable=durable)
    assert there == ([False] if durable else [])


@pytest.mark.parametrize(
    ("name", "age", "abandoned"),
    [
        (".gpulab-00c0ffee.tmp", 3600, True),
        (".gpulab-00c0ffee.tmp", 0, False),
        (".gpulab-00c0ffee", 3600, False),
        ("spec.00c0ffee.tmp", 3600, False),
    ],
)
def test_beginnings_of_files_are_told_from_others(
    tmp_path: Path, name: str, age: int, *, abandoned: bool
) -> None:
    """A young one may be another plugin's, at work this moment; other names are not ours."""
    path = tmp_path / name
    path.touch()
    changed = path.stat().st_mtime - age
    os.utime(path, (changed, changed))
    assert is_abandoned(path) == abandoned
    remove_abandoned(tmp_path)
    assert path.exists() != abandoned


def test_a_file_that_has_gone_is_not_abandoned(tmp_path: Path) -> None:
    """Its writer finished it, between a look at the folder and one at the file."""
    assert not is_abandoned(tmp_path / ".gpulab-00c0ffee.tmp")
