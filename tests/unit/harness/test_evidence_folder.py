"""The folder of one test's evidence: its name, and what is in its place."""

import os
from pathlib import Path

import pytest

from lab.core.errors import NotReady
from lab.harness.evidence.folder import made_for, require_writable


@pytest.mark.parametrize(
    "tests",
    [
        ("t.py::test_x[a/b]", "t.py::test_x[a-b]"),
        ("t.py::test_x[<]", "t.py::test_x[>]"),
        ("tests/t.py::test_x", "tests-t.py::test_x"),
        ("t.py::test_x", "t.py::test_X"),
        (f"a.py::test_x[{'y' * 200}]", f"b.py::test_x[{'y' * 200}]"),
        ("t.py::test_x[\udcff]", "t.py::test_x[\udcfe]"),
    ],
)
def test_two_tests_have_two_folders(tmp_path: Path, tests: tuple[str, str]) -> None:
    """Or what passed would take away what failed, even where capitals make no difference."""
    first, second = (made_for(each, tmp_path).name for each in tests)
    assert first.lower() != second.lower()
    assert len(list(tmp_path.iterdir())) == 2


def test_a_folder_has_a_name_that_every_file_system_takes(tmp_path: Path) -> None:
    """Of 255 bytes at most; a scenario's is its own as it is."""
    assert len(made_for("测试" * 200, tmp_path).name.encode()) < 255
    assert made_for("001-oversubscription", tmp_path).name == "001-oversubscription"


def test_of_a_long_name_the_end_can_be_read(tmp_path: Path) -> None:
    """Which is the test's own; before it are folders."""
    name = made_for(f"tests/{'deep/' * 40}test_x.py::test_y", tmp_path).name
    assert "deep-test_x.py-test_y-" in name
    assert "tests" not in name


@pytest.mark.parametrize("test", ["::", "-", "[]", "../.."])
def test_a_name_without_a_letter_is_a_folder_all_the_same(tmp_path: Path, test: str) -> None:
    """Below that of the run, and no option of a program that is given it."""
    folder = made_for(test, tmp_path)
    assert folder.name.startswith("test-")
    assert folder.parent == tmp_path


def test_what_is_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    """By what the system says of it: nothing of somebody's is removed that is no folder."""
    (tmp_path / "test").write_text("mine")
    with pytest.raises(NotReady) as raised:
        made_for("test", tmp_path)
    assert raised.value.where == str(tmp_path / "test")
    assert "Not a directory" in raised.value.seen
    assert (tmp_path / "test").read_text() == "mine"


def test_a_folder_that_only_others_may_write_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before a test has run for minutes."""
    require_writable(tmp_path / "new" / "folder")
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK or path != tmp_path)
    with pytest.raises(NotReady) as raised:
        require_writable(tmp_path)
    assert (raised.value.where, raised.value.seen) == (str(tmp_path), "Permission denied")
