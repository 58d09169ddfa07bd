"""The page of the pytest plugin says what the plugin itself says."""

import inspect
from types import FunctionType

import pytest

from lab.cluster.access import ABILITIES
from lab.harness import pytest_plugin
from lab.harness.pytest_plugin import options, session, tested, wishes
from tests.unit.docs.pages import page

PAGE = page("docs/reference/pytest.md")
FIXTURES = ("gpu_lab", "lab_namespace", "lab_kubeconfig")


def test_every_option_has_its_row() -> None:
    """With its variable, its default and the line of `pytest --help`."""
    rows = [row for row in PAGE.section("Options").rows() if len(row) == 4]
    assert rows == [
        [
            f"`{each.flag} {each.value}`",
            f"`{each.variable}`",
            f"`{each.default}`" if each.default else "",
            each.help,
        ]
        for each in options.OPTIONS
    ]


def test_every_fixture_has_its_row() -> None:
    """With the first line of what `pytest --fixtures` prints."""
    rows = {row[0].strip("`"): row[2] for row in PAGE.section("Fixtures").rows()}
    assert rows == {name: first_line(getattr(pytest_plugin, name)) for name in FIXTURES}


def first_line(fixture: object) -> str:
    """Return the first line of a fixture's docstring."""
    function = inspect.unwrap(fixture)  # type: ignore[arg-type]
    return (inspect.getdoc(function) or "").splitlines()[0]


def test_every_argument_of_the_marker_has_its_row() -> None:
    """And every ability that can be needed is named."""
    rows = {row[0].strip("`"): row[1] for row in PAGE.section("The marker").rows()}
    assert [f"{name}=..." for name in rows] == wishes.MARKER[len("gpu_lab(") :].split(")")[0].split(
        ", "
    )
    assert all(f"`{each}`" in rows["needs"] for each in ABILITIES)
    assert all(f"`{each}`" in rows["backend"] for each in options.BACKENDS)


def test_exit_codes_are_pytests() -> None:
    """All that a run with labs can have; 3 and 5 have nothing to do with them."""
    rows = PAGE.section("How a run ends").rows()
    codes = {pytest.ExitCode(int(row[0])).name for row in rows if row[0].isdecimal()}
    assert codes == {"OK", "TESTS_FAILED", "INTERRUPTED", "USAGE_ERROR"}


def test_properties_are_those_of_reports() -> None:
    """The names are a contract: whoever reads JUnit's XML looks for them."""
    rows = [row[0].strip("`") for row in PAGE.section("What is kept").rows()]
    source = inspect.getsource(tested._leased)  # noqa: SLF001 - where they are written
    assert isinstance(tested._leased, FunctionType)  # noqa: SLF001 - as above
    assert rows[-1] == session.EVIDENCE
    assert all(f'"{name.removeprefix("gpu_lab.")}":' in source for name in rows[:-1])
