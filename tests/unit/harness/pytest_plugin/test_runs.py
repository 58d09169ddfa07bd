"""What a test run leaves on disk, and how it is told that something is left."""

from pathlib import Path

import pytest

from lab.core.errors import CleanUpFailed
from lab.harness.pytest_plugin.runs import RunFolder


def test_a_folder_that_stays_is_told_with_what_removes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing else: a blank in its path ends no argument."""

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("shutil.rmtree", refused)
    folder = tmp_path / "my labs" / "run-1"
    with pytest.raises(CleanUpFailed) as raised:
        RunFolder(folder).remove()
    assert raised.value.render() == (
        "the files of the run could not be removed\n"
        f"  where: {folder}\n"
        f"  seen:  [Errno 13] Permission denied: '{folder}'\n"
        f"         $ rm -r '{folder}'"
    )
