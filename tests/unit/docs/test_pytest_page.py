"""The page of the pytest plugin says what the plugin itself says."""

import inspect
import re
from types import FunctionType, SimpleNamespace
from typing import Any, Final

import pytest

from lab.harness.evidence.named import REMOVED
from lab.harness.evidence.redaction import redacted_text
from lab.harness.lacking import NEEDS
from lab.harness.pytest_plugin import options, session, tested, wishes
from tests.unit.docs.pages import page

PAGE = page("docs/reference/pytest.md")
_CODE: Final = re.compile(r"`([^`]+)`")


def test_every_argument_of_the_marker_has_its_row() -> None:
    """And everything that can be needed is named."""
    rows = {row[0].strip("`"): row[1] for row in PAGE.section("The marker").rows()}
    assert [f"{name}=..." for name in rows] == wishes.MARKER[len("gpu_lab(") :].split(")")[0].split(
        ", "
    )
    assert all(f"`{each}`" in rows["needs"] for each in NEEDS)
    assert all(f"`{each}`" in rows["backend"] for each in options.BACKENDS)


def test_properties_are_those_of_reports() -> None:
    """The names are a contract: whoever reads JUnit's XML looks for them."""
    rows = [row[0].strip("`") for row in PAGE.section("What is kept").rows()]
    source = inspect.getsource(tested._leased)  # noqa: SLF001 - where they are written
    assert isinstance(tested._leased, FunctionType)  # noqa: SLF001 - as above
    assert rows[-1] == session.EVIDENCE
    assert all(f'"{name.removeprefix("gpu_lab.")}":' in source for name in rows[:-1])


SECRETS = PAGE.section("Which secrets are taken out")
KEPT = [row[1] for row in SECRETS.rows()]


@pytest.mark.parametrize("row", KEPT)
def test_what_is_said_to_stay_in_the_evidence_does(row: str) -> None:
    """Whoever publishes it has to know; what is recognised some day leaves the table."""
    stay, _, partly = row.partition("; of ")
    for text in _CODE.findall(stay):
        assert redacted_text(text, ()) == text
    for text in _CODE.findall(partly):
        left = redacted_text(text, ())
        assert REMOVED in left
        assert "hunter2" in left


def test_what_is_said_to_be_taken_out_of_the_evidence_is() -> None:
    """Every example of it."""
    texts = [each for each in _CODE.findall(SECRETS.text.split("\n|")[0]) if "hunter2" in each]
    assert len(texts) == 4
    assert [each for each in texts if "hunter2" in redacted_text(each, ())] == []


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (SimpleNamespace(option=SimpleNamespace()), "mine-main"),
        (SimpleNamespace(option=SimpleNamespace(), workerinput={"workerid": "gw1"}), "mine-gw1"),
    ],
    ids=["main", "worker"],
)
def test_every_worker_has_a_cluster_of_another_name(config: SimpleNamespace, name: str) -> None:
    """By the hook that the page shows, under what pytest-kind's option is called."""
    (hook,) = (each.text for each in PAGE.blocks("python") if "pytest_configure" in each.text)
    defined: dict[str, Any] = {}
    exec(hook, defined)  # noqa: S102 - the page's own code
    defined["pytest_configure"](config)
    assert config.option.cluster_name == name
