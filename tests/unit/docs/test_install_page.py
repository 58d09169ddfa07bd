"""How gpu-lab is installed is said on one page, and what that page says can be installed."""

import re
import tomllib
from typing import Final

import pytest

from tests.unit.docs.pages import ROOT, Page, page, pages

INSTALL: Final = page("docs/how-to/install.md")
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_extras_that_pages_install_are_there() -> None:
    """An extra of another name is a warning of pip's, and nothing is installed for it."""
    named = {extra for each in pages() for extra in re.findall(r"\$GPU_LAB\[(\w+)\]", each.text)}
    assert named == {"pytest", "plugin"}
    assert named <= PROJECT["optional-dependencies"].keys()


def test_the_command_is_one_to_paste() -> None:
    """The folder is the only thing in it that a reader changes."""
    (block,) = INSTALL.blocks("shell")
    folder, install = block.text.splitlines()
    assert folder.startswith("GPU_LAB=")
    assert install == 'pip install "$GPU_LAB[pytest]"'


@pytest.mark.parametrize("each", [pytest.param(each, id=each.name) for each in pages()])
def test_no_page_installs_from_an_index(each: Page) -> None:
    """Nothing is published there: it would fail, or get another project of that name."""
    assert re.findall(r"pip install ['\"]?gpu-lab", each.text) == []
