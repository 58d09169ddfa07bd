"""The page of the pytest plugin says what the plugin itself says."""

import inspect
from types import FunctionType

from lab.cluster.access import ABILITIES
from lab.harness.pytest_plugin import options, session, tested, wishes
from tests.unit.docs.pages import page

PAGE = page("docs/reference/pytest.md")


def test_every_argument_of_the_marker_has_its_row() -> None:
    """And every ability that can be needed is named."""
    rows = {row[0].strip("`"): row[1] for row in PAGE.section("The marker").rows()}
    assert [f"{name}=..." for name in rows] == wishes.MARKER[len("gpu_lab(") :].split(")")[0].split(
        ", "
    )
    assert all(f"`{each}`" in rows["needs"] for each in ABILITIES)
    assert all(f"`{each}`" in rows["backend"] for each in options.BACKENDS)


def test_properties_are_those_of_reports() -> None:
    """The names are a contract: whoever reads JUnit's XML looks for them."""
    rows = [row[0].strip("`") for row in PAGE.section("What is kept").rows()]
    source = inspect.getsource(tested._leased)  # noqa: SLF001 - where they are written
    assert isinstance(tested._leased, FunctionType)  # noqa: SLF001 - as above
    assert rows[-1] == session.EVIDENCE
    assert all(f'"{name.removeprefix("gpu_lab.")}":' in source for name in rows[:-1])
