"""What happens to hardware, what the plugin says of it, and what outlives a restart."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import BECOMES, IGNORED_XIDS, Becomes, Breakage
from fake_plugin.hardware.state import State, StateFile

LOST = Breakage("xid", "79")


def start(folder: Path, *, sticky: bool = False) -> Board:
    """Return the board as a plugin that starts now has it."""
    file = StateFile(folder)
    return Board(file, file.load()[0], sticky=sticky)


def test_a_broken_unit_is_unhealthy_until_it_is_mended(tmp_path: Path) -> None:
    """With the policy that recovers, the plugin follows the hardware."""
    board = start(tmp_path)
    board.break_units(["a", "b"], LOST)
    assert board.unhealthy() == {"a", "b"}
    board.mend_units(["a"])
    assert (set(board.unhealthy()), board.breakage("a"), board.breakage("b")) == ({"b"}, None, LOST)


@pytest.mark.parametrize(
    ("becomes", "unhealthy"),
    [("healthy", {"c"}), ("unhealthy", {"a", "b", "c"}), ("toggled", {"b", "c"})],
)
def test_a_change_is_of_the_units_that_it_names(
    tmp_path: Path, becomes: Becomes, unhealthy: set[str]
) -> None:
    """Whether a call asks for it or a script: of `a`, which is broken, and `b`, which is sound."""
    assert becomes in BECOMES
    board = start(tmp_path)
    board.break_units(["a", "c"], Breakage())
    board.change_units(["a", "b"], becomes, LOST)
    assert board.unhealthy() == unhealthy
    expected = {"healthy": None, "unhealthy": LOST, "toggled": LOST}[becomes]
    assert board.breakage("b") == expected


def test_what_is_broken_stays_broken_over_a_restart(tmp_path: Path) -> None:
    """A new plugin does not make a card sound."""
    start(tmp_path).break_units(["a"], LOST)
    again = start(tmp_path)
    assert (set(again.unhealthy()), again.breakage("a")) == ({"a"}, LOST)


def test_a_sticky_unit_is_unhealthy_until_the_plugin_restarts(tmp_path: Path) -> None:
    """NVIDIA's plugin never takes back what it said of a card that recovered."""
    board = start(tmp_path, sticky=True)
    board.break_units(["a"], LOST)
    board.mend_units(["a"])
    assert (set(board.unhealthy()), board.breakage("a")) == ({"a"}, None)
    assert start(tmp_path, sticky=True).unhealthy() == frozenset()


def test_units_of_a_node_can_differ_in_their_policy(tmp_path: Path) -> None:
    """A node with NVIDIA's cards and others; one that is added later belongs to its pool."""
    board = start(tmp_path)
    board.make_sticky(["a"])
    board.make_sticky(["late"])
    board.break_units(["a", "b", "late"], LOST)
    board.mend_units(["a", "b", "late"])
    assert board.unhealthy() == {"a", "late"}
    assert [board.is_sticky(unit) for unit in ("a", "b")] == [True, False]


def test_a_sticky_unit_that_never_broke_is_healthy(tmp_path: Path) -> None:
    """The policy says how long a unit is unhealthy, and not that it is."""
    board = start(tmp_path)
    board.make_sticky(["a", "b"])
    board.break_units(["b", "c"], LOST)
    assert board.unhealthy() == {"b", "c"}


def test_where_all_are_sticky_every_unit_is(tmp_path: Path) -> None:
    """Also one that nobody has named."""
    assert start(tmp_path, sticky=True).is_sticky("a")


def test_a_sticky_unit_that_is_still_broken_is_unhealthy_after_a_restart(tmp_path: Path) -> None:
    """The restart looks at the hardware, and the hardware has not changed."""
    start(tmp_path, sticky=True).break_units(["a"], LOST)
    again = start(tmp_path, sticky=True)
    again.mend_units(["a"])
    assert again.unhealthy() == {"a"}


@pytest.mark.parametrize(
    ("breakage", "counts"),
    [
        *((Breakage("xid", str(xid)), False) for xid in sorted(IGNORED_XIDS)),
        (Breakage("ecc", "single-bit"), False),
        (Breakage("xid", "79"), True),
        (Breakage("xid", "48"), True),
        (Breakage("ecc", "double-bit"), True),
        (Breakage("fault-code", "80E01801"), True),
        (Breakage(), True),
    ],
    ids=str,
)
@pytest.mark.parametrize("sticky", [True, False])
def test_errors_of_the_application_leave_a_card_healthy(
    tmp_path: Path,
    breakage: Breakage,
    counts: bool,  # noqa: FBT001 - a column of the table
    sticky: bool,  # noqa: FBT001 - a column of the table
) -> None:
    """The list is that of NVIDIA's plugin; the error is on record all the same."""
    board = start(tmp_path, sticky=sticky)
    board.break_units(["a"], breakage)
    assert ("a" in board.unhealthy(), board.breakage("a")) == (counts, breakage)


def test_the_list_of_ignored_xids_is_nvidias() -> None:
    """NVIDIA/k8s-device-plugin, internal/rm/health.go."""
    assert {13, 31, 43, 45, 68, 109} == IGNORED_XIDS


def test_toggling_breaks_and_mends_in_turn(tmp_path: Path) -> None:
    """A flap is two of these."""
    board = start(tmp_path)
    seen = []
    for _ in range(3):
        board.toggle_units(["a"], LOST)
        seen.append(board.breakage("a"))
    assert seen == [LOST, None, LOST]


def test_toggling_is_told_apart_unit_by_unit(tmp_path: Path) -> None:
    """What is broken is mended and what is sound breaks, in one change."""
    board, changes = start(tmp_path), list[frozenset[str]]()
    board.break_units(["a", "z"], LOST)
    board.listen(lambda: changes.append(board.unhealthy()))
    board.toggle_units(["a", "b"], LOST)
    assert changes == [{"b", "z"}]


def test_all_can_be_as_in_the_beginning(tmp_path: Path) -> None:
    """All is mended, plugged in and as many as the fleet says; only resets stay counted."""
    board = start(tmp_path)
    board.break_units(["a"], LOST)
    board.unplug(["b"])
    board.add("pool", 2)
    board.reset(["a"])
    board.clear()
    assert start(tmp_path).state == State(resets={"a": 1})


def test_cards_come_and_go_and_are_remembered(tmp_path: Path) -> None:
    """What was unplugged, plugged back and added outlives the plugin; its faults go along."""
    board = start(tmp_path)
    board.break_units(["a"], LOST)
    board.unplug(["a", "b"])
    board.plug(["b", "never-there"])
    board.add("pool", 2)
    board.add("pool", 1)
    assert start(tmp_path).state == State(
        broken={"a": LOST}, unplugged=frozenset({"a"}), added={"pool": 3}
    )


def test_resets_are_counted(tmp_path: Path) -> None:
    """Each container that starts resets its devices once."""
    board = start(tmp_path)
    board.reset(["a", "b"])
    board.reset(["a"])
    assert start(tmp_path).state.resets == {"a": 2, "b": 1}


def test_reactions_follow_changes_and_nothing_else(tmp_path: Path) -> None:
    """Breaking what is broken in the same way is no news."""
    board, heard = start(tmp_path), []
    board.listen(lambda: heard.append(len(board.state.broken)))
    board.break_units(["a"], LOST)
    board.break_units(["a"], LOST)
    board.mend_units(["b"])
    board.mend_units(["a"])
    assert heard == [1, 0]


def test_a_change_that_cannot_be_written_has_not_happened(
    tmp_path: Path, fill_disk: Callable[[], None]
) -> None:
    """Else it would be gone with the next start, and nobody would know."""
    board = start(tmp_path)
    fill_disk()
    with pytest.raises(OSError, match="No space left"):
        board.break_units(["a"], LOST)
    assert (board.state, board.unhealthy()) == (State(), frozenset())


def test_changes_from_many_threads_are_all_kept(tmp_path: Path) -> None:
    """Two commands at once do not cost one of them its effect."""
    board = start(tmp_path)
    threads = [
        threading.Thread(target=board.break_units, args=([f"unit{number}"], LOST))
        for number in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(start(tmp_path).state.broken) == 16
