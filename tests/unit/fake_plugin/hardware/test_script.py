"""Changes of health that come by themselves."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Becomes, Breakage
from fake_plugin.hardware.script import Script, Turn
from fake_plugin.hardware.state import State, StateFile
from tests.unit.fake_plugin.conftest import Said
from tests.unit.waiting import wait_until

LOST = Breakage("xid", "79")
Run = Callable[..., Script]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """Return a board on which all is sound."""
    return Board(StateFile(tmp_path), State(), sticky=False)


@pytest.fixture
def changes(board: Board) -> list[frozenset[str]]:
    """Return what is unhealthy after each change."""
    seen: list[frozenset[str]] = []
    board.listen(lambda: seen.append(board.unhealthy()))
    return seen


@pytest.fixture
def run(board: Board) -> Iterator[Run]:
    """Return what starts a script; all are stopped in the end."""
    scripts: list[Script] = []

    def start(*turns: Turn) -> Script:
        scripts.append(Script(board, turns))
        scripts[-1].start()
        return scripts[-1]

    yield start
    for script in scripts:
        script.stop()


def turn(
    becomes: Becomes, after: float, every: float | None = None, times: int | None = None
) -> Turn:
    """Return a turn of one unit."""
    return Turn(("a",), becomes, LOST, after, every, times)


def test_turns_come_in_the_order_of_their_times(run: Run, changes: list[frozenset[str]]) -> None:
    """Whatever order they are written in."""
    run(turn("healthy", 0.02), turn("unhealthy", 0.01))
    wait_until("both changes", lambda: len(changes) == 2)
    assert changes == [{"a"}, frozenset()]


def test_a_turn_repeats_without_end(run: Run, changes: list[frozenset[str]]) -> None:
    """Every so often, until the script ends."""
    script = run(turn("toggled", 0.0, every=0.001))
    wait_until("many changes", lambda: len(changes) > 10)
    script.stop()
    assert changes[:4] == [{"a"}, frozenset()] * 2


@pytest.mark.parametrize("times", [1, 4])
def test_a_turn_repeats_as_often_as_it_says(
    run: Run, changes: list[frozenset[str]], times: int
) -> None:
    """Then nothing more is to come."""
    script = run(turn("toggled", 0.0, every=0.001, times=times))
    wait_until("the end of the script", lambda: script.turns() == () and len(changes) >= times)
    script.stop()
    assert len(changes) == times


def test_a_change_that_takes_long_loses_none_of_the_others(
    run: Run, board: Board, changes: list[frozenset[str]]
) -> None:
    """They come after it, as many as there were to come."""
    late: list[int] = []

    def hold() -> None:
        if not late:
            late.append(1)
            wait_until("a unit of another hand", lambda: "b" in board.unhealthy())

    board.listen(hold)
    script = run(turn("toggled", 0.0, every=0.05, times=3))
    wait_until("the first change", lambda: bool(late))
    board.break_units(["b"], LOST)
    wait_until("all changes", lambda: len(changes) == 4)
    assert script.turns() == ()


def test_a_turn_is_added_to_a_script_that_runs(run: Run, board: Board) -> None:
    """As a flap by command is."""
    run().add(turn("unhealthy", 0.0))
    wait_until("the change", lambda: board.unhealthy() == {"a"})


def test_what_is_to_come_is_told_and_can_be_forgotten(run: Run, board: Board) -> None:
    """It does not happen then."""
    script = run(turn("unhealthy", 60.0), turn("healthy", 30.0))
    assert [each.becomes for each in script.turns()] == ["healthy", "unhealthy"]
    assert (script.clear(), script.turns()) == (2, ())
    assert board.unhealthy() == frozenset()


def test_what_is_cleared_does_not_happen_after_all(run: Run, board: Board) -> None:
    """Nor does it spoil what is mended next, however fast the flap."""
    for _ in range(50):
        script = run(turn("toggled", 0.0, every=0.0001))
        wait_until("a change", lambda: bool(board.unhealthy()))
        script.clear()
        board.clear()
        assert board.unhealthy() == frozenset()
        script.stop()
        assert board.unhealthy() == frozenset()


def test_a_change_that_cannot_be_written_does_not_end_the_script(
    run: Run, board: Board, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, once for many, and the next is tried."""
    save = StateFile.save
    full = [True] * 3

    def save_later(file: StateFile, state: State) -> None:
        if full:
            full.pop()
            raise OSError("no space left")
        save(file, state)

    monkeypatch.setattr(StateFile, "save", save_later)
    run(turn("unhealthy", 0.0, every=0.001, times=9))
    wait_until("the change", lambda: board.unhealthy() == {"a"})
    assert said("state-not-written") == [{"reason": "no space left"}]


def test_a_script_that_never_ran_can_be_stopped(board: Board) -> None:
    """A plugin that does not come up ends it all the same."""
    Script(board, [turn("unhealthy", 0.0)]).stop()
    assert board.unhealthy() == frozenset()
