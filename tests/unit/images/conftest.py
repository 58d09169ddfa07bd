"""What the tests of images share: a store, and parts that only write a file."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.core.progress import Progress
from lab.host.processes import Processes
from lab.images.store import Making, Part, Store
from tests.unit.images.machine import ImageMachine


@pytest.fixture
def processes() -> Processes:
    """Return the children of one command."""
    return Processes()


@pytest.fixture
def store(tmp_path: Path, processes: Processes, progress: Progress) -> Store:
    """Return an empty store."""
    return Store(tmp_path / "my store", processes, progress)


@pytest.fixture
def making(tmp_path: Path, processes: Processes, progress: Progress) -> Making:
    """Return what a part is given; the product of another part is a folder of its name."""
    folder, scratch = tmp_path / "product", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    with progress.step("making") as step:
        return Making(folder, scratch, processes, step, lambda part: tmp_path / part.name)


@pytest.fixture
def machine(
    put_on_path: Callable[[str, str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ImageMachine:
    """Return a machine whose programs build images of next to nothing."""
    return ImageMachine.set_up(put_on_path, tmp_path, monkeypatch)


def written(text: str) -> Callable[[Making], None]:
    """Return what makes a product of one file."""

    def make(making: Making) -> None:
        (making.folder / "file").write_text(text)

    return make


def part(name: str = "part", *inputs: str, needs: tuple[Part, ...] = ()) -> Part:
    """Return a part that writes its name to a file."""
    return Part(name, f"Make {name}", "v1", inputs, written(name), needs)
