"""The page about the structure says what the tools enforce."""

import re
import tomllib
from typing import Any

from tests.unit.docs.pages import ROOT, page

SECTION = page("docs/explanation/architecture.md").section("Layers")


def contract() -> list[str]:
    """Return the layers of the contract that import-linter checks, from the top down."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        each["layers"]
        for each in project["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers"
    )
    return [str(each) for each in layers]


def test_layers_are_those_of_the_contract() -> None:
    """The table has them from the top down, siblings in one row."""
    assert [" | ".join(re.findall(r"`(\w+)`", row[0])) for row in SECTION.rows()] == contract()


def test_the_picture_shows_the_same_layers() -> None:
    """Words with a letter in front are the layers; they come in the order of the contract."""
    picture = SECTION.text.partition("```text\n")[2].partition("```")[0]
    drawn = [" | ".join(re.findall(r"lab\.(\w+)", line)) for line in picture.splitlines()]
    assert [line for line in drawn if line] == contract()


def test_every_package_of_the_lab_is_a_layer() -> None:
    """A new folder has to be put into its place, on the page as well."""
    folders = {each.parent.name for each in ROOT.glob("lab/*/__init__.py")}
    assert folders == set(re.findall(r"\w+", " ".join(contract())))
