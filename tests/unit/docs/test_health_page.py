"""The page about health says what becomes of broken hardware."""

import re
from pathlib import Path
from typing import Final

import pytest

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import IGNORED_XIDS, Breakage, misfit
from fake_plugin.hardware.state import StateFile
from fake_plugin.serving.service import LIST_GAP
from tests.unit.docs.pages import page

PAGE: Final = page("docs/explanation/health.md")
REASONS: Final = PAGE.section("Not every error counts").rows()
MEANWHILE: Final = PAGE.section("Mended is not healthy").rows()
VENDORS: Final = ("nvidia", "amd", "ascend")


def breakage_of(reason: str) -> list[Breakage]:
    """Return what a row of the first table is about."""
    if "none" in reason:
        return [Breakage()]
    if "ecc" in reason:
        return [Breakage("ecc", reason.strip("`").removeprefix("ecc: "))]
    if "code" in reason:
        return [Breakage("fault-code", "80E01801")]
    numbers = re.findall(r"\d+", reason) or ["48", "79"]
    return [Breakage("xid", number) for number in numbers]


@pytest.mark.parametrize(("reason", "vendors", "said"), REASONS)
def test_reasons_are_counted_as_the_page_says(reason: str, vendors: str, said: str) -> None:
    """And only the vendors that are named have them."""
    for breakage in breakage_of(reason):
        assert breakage.is_ignored == said.startswith("healthy")
        having = [each for each in VENDORS if not misfit(breakage, each)]
        named = list(VENDORS) if vendors == "any" else vendors.lower().split(", ")
        assert having == named


def test_the_ignored_xids_are_all_there() -> None:
    """Each number, none more; and there are rows to look at."""
    numbers = {int(each) for row in REASONS for each in re.findall(r"\b\d{2,3}\b", row[0])}
    assert numbers == IGNORED_XIDS
    assert len(REASONS) == 6
    assert len(MEANWHILE) == 4


@pytest.mark.parametrize(("then", "recovers", "sticky"), MEANWHILE)
def test_mended_is_healthy_by_the_policy(
    then: str, recovers: str, sticky: str, tmp_path: Path
) -> None:
    """What happens to a device that was broken, and what is then said of it."""
    for policy, said in (("recovers", recovers), ("sticky", sticky)):
        file = StateFile(tmp_path)
        board = Board(file, file.load()[0], sticky=policy == "sticky")
        board.break_units(["card"], Breakage())
        if "mended" in then:
            board.mend_units(["card"])
        if "clear" in then:
            board.clear()
        if "restarts" in then:
            board = Board(file, file.load()[0], sticky=policy == "sticky")
        assert board.unhealthy() == (frozenset({"card"}) if said == "unhealthy" else frozenset())


def test_the_time_between_two_lists_is_that_of_the_code() -> None:
    """In milliseconds."""
    assert f"one list in {LIST_GAP * 1000:.0f} milliseconds" in PAGE.section("Storms").text
