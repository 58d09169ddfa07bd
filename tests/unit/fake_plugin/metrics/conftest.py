"""A board on which all is sound, the errors of it, and a kubelet that says who holds what."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_plugin.hardware.board import Board
from fake_plugin.metrics.history import History
from tests.unit.fake_plugin.metrics.fixtures import board
from tests.unit.fake_plugin.metrics.lister import Lister


@pytest.fixture
def hardware(tmp_path: Path) -> Board:
    """Return a board on which all is sound."""
    return board(tmp_path)


@pytest.fixture
def history(hardware: Board) -> History:
    """Return the errors of the board, from now on."""
    return History(hardware)


@pytest.fixture
def socket(folder: Path) -> Path:
    """Return where the kubelet listens."""
    return folder / "kubelet.sock"


@pytest.fixture
def lister(socket: Path) -> Iterator[Lister]:
    """Return a kubelet that listens."""
    lister = Lister(socket)
    yield lister
    lister.stop()
