"""The page about the structure says what the tools enforce."""

import re
import textwrap
import tomllib
from typing import Any

import pytest

from lab.install import up
from tests.unit.docs.pages import ROOT, page

PAGE = page("docs/explanation/architecture.md")
SECTION = PAGE.section("Layers")


def contracts(key: str) -> list[list[str]]:
    """Return what stands under a key in the contracts that import-linter checks and have it."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = project["tool"]["importlinter"]["contracts"]
    return [[str(value) for value in each[key]] for each in found if key in each]


def contract() -> list[str]:
    """Return the layers of the lab, from the top down."""
    (layers,) = (each for each in contracts("layers") if "core" in each)
    return layers


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


def test_modules_that_know_the_client_library_are_named() -> None:
    """They are those that the contract lets know it."""
    (imports,) = contracts("ignore_imports")
    named = re.findall(r"`([\w.]+)` and `([\w.]+)` are the only modules that", SECTION.text)
    assert named == [tuple(re.findall(r"lab\.([\w.]+) ->", " ".join(imports)))]


def test_what_the_lab_imports_of_the_plugin_is_named() -> None:
    """The modules and packages named at the top of the page are imported, and no others."""
    sources = "\n".join(each.read_text(encoding="utf-8") for each in ROOT.glob("lab/**/*.py"))
    imported = re.findall(r"^\s*(?:from|import) (fake_plugin\b[\w.]*)", sources, re.MULTILINE)
    top = PAGE.text.partition("\n## ")[0]
    named = set(re.findall(r"`(fake_plugin\.[\w.]+)`", top))

    def whole(module: str) -> str:
        return next((each for each in named if f"{module}.".startswith(f"{each}.")), module)

    assert {whole(module) for module in imported} == named


def test_the_order_of_up_is_drawn_as_in_the_module() -> None:
    """The module and the page have one picture."""
    drawn = next(each for each in PAGE.blocks("text") if "choose a node image" in each.text)
    lines = [line for line in (up.__doc__ or "").splitlines() if line.startswith("    ")]
    assert textwrap.dedent("\n".join(lines)).strip() == drawn.text.strip()


def parts_of_the_plugin() -> set[str]:
    """Return the modules and packages of the plugin."""
    here = ROOT / "fake_plugin"
    modules = {each.stem for each in here.glob("*.py") if not each.stem.startswith("__")}
    return modules | {each.parent.name for each in here.glob("*/__init__.py")}


def test_every_part_of_the_plugin_is_in_the_table() -> None:
    """Once, and no other is."""
    rows = PAGE.section("The plugin inside").rows()
    named = re.findall(r"`(\w+)`", " ".join(row[0] for row in rows))
    assert sorted(named) == sorted(parts_of_the_plugin())


def test_parts_in_the_picture_of_the_plugin_are_there() -> None:
    """Those of its lines that name one."""
    text = PAGE.section("The plugin inside").text
    picture = text.partition("```text\n")[2].partition("```")[0]
    drawn = {word.partition(".")[0] for word in re.findall(r"[a-z_.]+", picture)}
    assert {"fleet", "vendors", "serving", "control", "faults"} <= drawn
    for dotted in ("hardware.board", "serving.interceptor"):
        assert dotted in picture
        assert (ROOT / "fake_plugin" / f"{dotted.replace('.', '/')}.py").exists()


@pytest.mark.parametrize(
    "title", ["The way of a failure", "The way of an expectation", "The labs of a test run"]
)
def test_a_way_leads_through_modules_that_are_there(title: str) -> None:
    """Each is a file or a folder."""
    rows = PAGE.section(title).rows()
    named = [each for row in rows for each in re.findall(r"`([\w.]+)`", row[0])]
    assert len(named) > len(rows) / 2
    for each in named:
        path = ROOT / each.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").exists(), each
