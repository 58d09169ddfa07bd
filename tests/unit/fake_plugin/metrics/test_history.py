"""Errors, counted since the plugin started."""

from pathlib import Path

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.state import State, StateFile
from fake_plugin.metrics.history import History

LOST = Breakage("xid", "79")
ECC = Breakage("ecc", "double-bit")


def test_history_counts_each_time_that_a_unit_breaks(hardware: Board) -> None:
    """Broken again after it was mended is twice, broken and still broken is once."""
    history = History(hardware)
    hardware.break_units(["a"], LOST)
    hardware.break_units(["b"], LOST)
    hardware.mend_units(["a"])
    hardware.break_units(["a"], LOST)
    assert history.errors("a") == {LOST: 2}
    assert history.count(LOST, "a", "b") == 3


def test_history_begins_with_what_is_broken_already(tmp_path: Path) -> None:
    """A restart of the plugin does not hide what outlives it."""
    broken = Board(StateFile(tmp_path), State(broken={"a": LOST}), sticky=False)
    assert History(broken).errors("a") == {LOST: 1}


def test_history_tells_errors_apart(hardware: Board) -> None:
    """One kind after the other, without a repair in between."""
    history = History(hardware)
    hardware.break_units(["a"], LOST)
    hardware.break_units(["a"], ECC)
    assert history.errors("a") == {LOST: 1, ECC: 1}
    assert history.count(ECC, "a", "a", "nothing") == 1


def test_last_xid_stays_after_the_repair(hardware: Board) -> None:
    """The driver keeps it, and so does the metric."""
    history = History(hardware)
    assert history.last_xid("a") == 0
    hardware.break_units(["a"], Breakage("xid", "31"))
    hardware.mend_units(["a"])
    assert history.last_xid("a") == 31


def test_double_bit_error_is_an_xid_as_well(hardware: Board) -> None:
    """The driver reports it as Xid 48; one bit alone it corrects in silence."""
    history = History(hardware)
    hardware.break_units(["a"], ECC)
    hardware.break_units(["b"], Breakage("ecc", "single-bit"))
    assert (history.last_xid("a"), history.last_xid("b")) == (48, 0)


def test_last_xid_is_that_of_the_part_before_that_of_the_card(hardware: Board) -> None:
    """The first unit that is asked for and had one decides."""
    history = History(hardware)
    hardware.break_units(["card"], LOST)
    assert history.last_xid("part", "card") == 79
    hardware.break_units(["part"], Breakage("xid", "94"))
    assert history.last_xid("part", "card") == 94
