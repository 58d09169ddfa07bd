"""The pages about conformance say what is checked and what is printed."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest

from lab.cli.conform import print_report
from lab.conformance import page as conformance_page
from lab.conformance.check import Check, Result, Verdict
from lab.conformance.contract import CHECKS
from lab.conformance.in_cluster.checks import IN_CLUSTER
from lab.conformance.limits import Limits
from lab.conformance.report import Report
from tests.unit.docs.pages import ROOT, page

REFERENCE: Final = page("docs/reference/conformance.md")
HOW_TO: Final = page("docs/how-to/test-your-device-plugin.md")
#: Where the third column begins that says what was seen.
SEEN: Final = re.compile(r"(?<=\S)  +(?=\S)")
BY_ID: Final = {each.rule.id: each.rule for each in CHECKS}


def test_the_page_is_the_one_that_the_checks_make() -> None:
    """`python -m lab.conformance.page` prints it."""
    assert REFERENCE.text == conformance_page.page()


def test_every_limit_is_in_the_table() -> None:
    """With its default."""
    shown = [row[0] for row in REFERENCE.section("Limits").rows()]
    assert shown == [f"{each.default:g}" for each in fields(Limits)]


@pytest.mark.parametrize("checks", [CHECKS, IN_CLUSTER], ids=["process", "cluster"])
def test_what_a_check_needs_is_made_before(checks: Sequence[Check[Any]]) -> None:
    """A check that needs a later one could never be made."""
    rules = [each.rule for each in checks]
    for at, rule in enumerate(rules):
        assert set(rule.needs) <= {each.id for each in rules[:at]}


def test_the_number_of_checks_is_that_of_the_pages() -> None:
    """The change log has it too."""
    for each in (REFERENCE, page("CHANGELOG.md")):
        found = re.findall(r"(?:of|against) (\d\d) (?:are not|checks)", each.text)
        assert found == [str(len(CHECKS))]


def columns(table: str) -> list[list[str]]:
    """Return mark, check, title of each row, and of marks that are no ticks what was seen."""
    rows = [SEEN.split(line) for line in table.splitlines()]
    return [row[: 3 if row[0] == "✓" else 4] for row in rows]


def test_the_example_of_the_how_to_prints_what_is_shown() -> None:
    """Names of sockets and seconds apart, which are another run's."""
    (script,) = HOW_TO.blocks("sh")
    shown, _ = HOW_TO.blocks("text")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-euc", script.text],
        env={**os.environ, "PATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert columns(ended.stdout) == columns(shown.text)


def test_the_failure_of_the_how_to_is_printed_like_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The check is one of those that there are."""
    _, shown = HOW_TO.blocks("text")
    result = Result(BY_ID["kubelet-restart"], Verdict.FAILED, "no Register within 30 s")
    print_report(Report((), "example.com/device", (), (result,)), "text")
    assert shown.text in capsys.readouterr().out
