"""The tools of a node, and the table behind them, as the hardware changes."""

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fake_plugin.errors import NotReady
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.smi import toolbox
from fake_plugin.smi.toolbox import Toolbox
from tests.unit.fake_plugin.conftest import Said
from tests.unit.fake_plugin.kubelet import wait_until
from tests.unit.fake_plugin.smi.hardware import H100, whole

LOST = Breakage("xid", "79")
GPU = whole(H100)


@pytest.fixture(autouse=True)
def _changes_alone_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no table come by itself: nobody would see that a change went unnoticed."""
    monkeypatch.setattr(toolbox, "_PERIOD", 3600.0)


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """Return a board without a fault."""
    return Board(StateFile(tmp_path), State(), sticky=False)


@pytest.fixture
def tools(tmp_path: Path, board: Board) -> Iterator[Toolbox]:
    """Return the tools of a node with one card, its table written once."""

    def readings() -> tuple[Reading, ...]:
        return (replace(GPU, breakage=board.breakage(GPU.card.uid)),)

    toolbox.install(tmp_path)
    tools = Toolbox(tmp_path, board, readings)
    tools.start()
    yield tools
    end(tools)


def end(tools: Toolbox) -> None:
    """Stop the tools, which must not last until the next table."""
    stopping = threading.Thread(target=tools.stop, daemon=True)
    stopping.start()
    wait_until("the end", lambda: not stopping.is_alive())


def condition(folder: Path) -> str:
    """Return whether the table has the card as ok or as lost, "" where there is no table."""
    table = folder / "tools/units/units"
    if not table.exists():
        return ""
    return "lost" if "|lost|" in table.read_text() else "ok"


def test_a_container_gets_what_is_there(tmp_path: Path) -> None:
    """A mount of something that is missing would keep the container from starting."""
    place = toolbox.install(tmp_path)
    mounts = {
        mount.container_path: Path(mount.host_path)
        for vendor in ("nvidia", "amd", "ascend")
        for mount in place.mounts(vendor)
    }
    assert set(mounts) == {
        "/usr/bin/nvidia-smi",
        "/usr/bin/rocm-smi",
        "/usr/bin/npu-smi",
        "/run/gpu-lab",
    }
    assert all(path.exists() for path in mounts.values())
    assert os.access(mounts["/usr/bin/nvidia-smi"], os.X_OK)


@pytest.mark.usefixtures("tools")
def test_the_table_follows_the_hardware(tmp_path: Path, board: Board) -> None:
    """It is there before the first container asks, and is written anew at each change."""
    wait_until("a table", lambda: condition(tmp_path) == "ok")
    board.break_units([GPU.card.uid], LOST)
    wait_until("a lost card", lambda: condition(tmp_path) == "lost")
    board.mend_units([GPU.card.uid])
    wait_until("a sound card", lambda: condition(tmp_path) == "ok")


@pytest.mark.usefixtures("tools")
def test_a_table_that_cannot_be_written_is_told_once_and_tried_again(
    tmp_path: Path, board: Board, said: Said
) -> None:
    """The plugin serves the kubelet all the same, and the table is right when it can be."""
    wait_until("a table", lambda: condition(tmp_path) == "ok")
    folder = tmp_path / "tools/units"
    folder.rename(tmp_path / "away")
    folder.write_text("in the way")
    board.break_units([GPU.card.uid], LOST)
    wait_until("a line of the log", lambda: len(said("table-not-written")) == 1)
    folder.unlink()
    board.reset([GPU.card.uid])
    wait_until("a lost card", lambda: condition(tmp_path) == "lost")
    assert len(said("table-not-written")) == 1


def test_a_failure_that_lasts_is_told_once_and_again_after_a_success(
    tmp_path: Path, board: Board, said: Said
) -> None:
    """A full disk would else fill the log as well; when it is full anew, that is news."""
    told: list[int] = []
    folder = tmp_path / "tools/units"

    def readings() -> tuple[Reading, ...]:
        told.append(len(said("table-not-written")))
        return ()

    def look(words: int) -> None:
        """Have the table written once more, and see how many words there were before."""
        looks = len(told)
        board.reset(["a"])
        wait_until("another look", lambda: len(told) > looks)
        assert told[-1] == words

    folder.parent.mkdir()
    folder.write_text("in the way")
    tools = Toolbox(tmp_path, board, readings)
    tools.start()
    wait_until("a line of the log", lambda: bool(said("table-not-written")))
    look(1)
    look(1)
    folder.unlink()
    look(1)
    wait_until("a table", (folder / "units").exists)
    folder.rename(tmp_path / "away")
    folder.write_text("in the way")
    look(1)
    wait_until("another line", lambda: len(said("table-not-written")) == 2)
    end(tools)


def test_tools_that_cannot_be_written_stop_the_start(tmp_path: Path) -> None:
    """Containers would be promised a mount that is not there."""
    (tmp_path / "tools").write_text("in the way")
    with pytest.raises(NotReady, match="tools, such as nvidia-smi, cannot be written") as caught:
        toolbox.install(tmp_path)
    assert caught.value.where == str(tmp_path / "tools")


def test_the_table_outlives_the_plugin(tmp_path: Path, tools: Toolbox) -> None:
    """A container that stays keeps its tool while a new plugin starts."""
    wait_until("a table", lambda: condition(tmp_path) == "ok")
    end(tools)
    assert condition(tmp_path) == "ok"


def test_stopping_does_not_wait_for_the_next_table(tmp_path: Path, tools: Toolbox) -> None:
    """The plugin's end would else be the period's."""
    wait_until("a table", lambda: condition(tmp_path) == "ok")
    end(tools)


class Waits(threading.Event):
    """An event that notes how long it is waited for, and is come back from at once but for once."""

    noted: list[float | None]

    def wait(self, timeout: float | None = None) -> bool:
        """Note the time; the second wait lasts until the event."""
        self.noted.append(timeout)
        return super().wait(None if len(self.noted) > 1 else 0)


@pytest.mark.parametrize(
    ("took", "waits"), [(0.0, [0.1, 5.0]), (0.25, [0.35, 5.0]), (10.0, [10.1, 200.0])]
)
def test_a_table_costs_a_twentieth_of_a_core(
    tmp_path: Path, board: Board, monkeypatch: pytest.MonkeyPatch, took: float, waits: list[float]
) -> None:
    """What takes long to read is read less often; a short pause comes before any change counts."""
    clock = [0.0]

    def readings() -> tuple[Reading, ...]:
        clock[0] += took
        return ()

    monkeypatch.setattr(Waits, "noted", [], raising=False)
    monkeypatch.setattr(toolbox, "_PERIOD", 5.0)
    monkeypatch.setattr(toolbox, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    stand_in = SimpleNamespace(Event=Waits, Thread=threading.Thread)
    monkeypatch.setattr(toolbox, "threading", stand_in)
    toolbox.install(tmp_path)
    tools = Toolbox(tmp_path, board, readings)
    tools.start()
    wait_until("both waits", lambda: len(Waits.noted) == 2)
    end(tools)
    assert Waits.noted == pytest.approx(waits)


def test_tools_that_are_stopped_as_they_look_do_not_wait(
    tmp_path: Path, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wake that comes with the stop is cleared with the others, and is not needed."""
    stops: list[threading.Thread] = []

    class Cleared(threading.Event):
        def clear(self) -> None:
            if not stops:
                stops.append(threading.Thread(target=ours.stop, daemon=True))
                stops[0].start()
                wait_until("the wake", self.is_set)
            super().clear()

    monkeypatch.setattr(
        toolbox, "threading", SimpleNamespace(Event=Cleared, Thread=threading.Thread)
    )
    toolbox.install(tmp_path)
    ours = Toolbox(tmp_path, board, lambda: ())
    ours.start()
    wait_until("the end", lambda: bool(stops) and not stops[0].is_alive())
