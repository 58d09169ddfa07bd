"""The pages that are made from the harness are current, and leave nothing out."""

import inspect
from collections.abc import Callable

import pytest

from lab import harness
from lab.harness.collection import scenarios
from lab.harness.expectations.nodes import NodeExpectation
from lab.harness.expectations.pods import PodExpectation
from lab.harness.expectations.replicas import ReplicasExpectation
from lab.harness.lab import Lab
from lab.harness.node import NodeHandle
from lab.harness.pytest_plugin import options
from lab.harness.reference import handle
from lab.harness.reference import scenarios as catalogue
from lab.harness.reference.spelling import first_line, in_cell, spelled
from tests.unit.docs.pages import Page, page

HARNESS = page("docs/reference/harness.md")
SCENARIOS = page("docs/reference/scenarios.md")
SECONDS = 5


@pytest.mark.parametrize(
    ("published", "made", "module"),
    [(HARNESS, handle.page, "handle"), (SCENARIOS, catalogue.page, "scenarios")],
    ids=["harness", "scenarios"],
)
def test_a_page_is_the_one_that_the_code_makes(
    published: Page, made: Callable[[], str], module: str
) -> None:
    """The command that it names prints it."""
    assert published.text == made()
    assert f"`python -m lab.harness.reference.{module}`" in published.text


def test_every_scenario_has_its_row() -> None:
    """With its titles in both languages."""
    rows = {row[0].split("`")[1]: row for each in SCENARIOS.sections() for row in each.rows()}
    assert rows.keys() == {each.name for each in scenarios()}
    for each in scenarios():
        assert [each.title("en"), each.title("zh")] == rows[each.name][1:3]


@pytest.mark.parametrize(
    ("title", "described"),
    [
        ("The lab", Lab),
        ("A node", NodeHandle),
        ("To expect of a pod", PodExpectation),
        ("To expect of a node", NodeExpectation),
        ("To expect of a Deployment", ReplicasExpectation),
    ],
)
def test_every_public_method_has_its_row(title: str, described: type) -> None:
    """Inherited ones as well, and none of them twice."""
    rows = [row[0].strip("`").split("(")[0] for row in HARNESS.section(title).rows()]
    methods = [name for name, _ in inspect.getmembers(described, inspect.isfunction)]
    assert {name for name in methods if not name.startswith("_")} <= set(rows)
    assert len(rows) == len(set(rows))


def test_every_row_says_something() -> None:
    """A method without a docstring would leave its cell empty."""
    assert [row for each in HARNESS.sections() for row in each.rows() if not row[-1]] == []


def test_every_option_has_its_row() -> None:
    """With its variable, its default and the line of `pytest --help`."""
    rows = [row[0].strip("`").split()[0] for row in HARNESS.section("Options").rows()]
    assert rows == [*(each.flag for each in options.OPTIONS), options.DOCTOR]


def test_what_is_to_be_imported_can_be() -> None:
    """The line is one to paste."""
    (block,) = HARNESS.blocks("python")
    names = block.text.removeprefix("from lab.harness import ").strip().split(", ")
    assert set(names) <= set(harness.__all__)


class _Example:
    """An example."""

    def method(self, count: "int", /, *, within: float = SECONDS, **labels: str | int) -> None:
        """Do it.

        Slowly.
        """


def test_a_method_is_spelled_as_its_caller_knows_it() -> None:
    """Without self, without quotes, with the value of a constant, and with what it says first."""
    said = "method(count: int, /, *, within: float=5, **labels: str | int)"
    assert spelled("method", _Example.method) == said
    assert first_line(_Example.method) == "Do it."
    assert in_cell("a | b") == "a \\| b"
