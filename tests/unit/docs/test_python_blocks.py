"""What a page shows in Python calls what there is, and not what has gone."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.docs.pages import ROOT, Block, Page, pages

#: What takes a fixture of somebody else's plugin cannot have its type.
LOOSE = "# mypy: allow-untyped-defs, check-untyped-defs\n"
#: What a fragment leaves out, by how it begins.
BEFORE = {
    "gpu_lab.": "from lab.harness import Lab, NodeHandle\ngpu_lab: Lab\nnode: NodeHandle\n",
    "@pytest.": "import pytest\n",
}


def python_blocks() -> list[tuple[Page, Block]]:
    """Return those of all pages, with the page that each is on."""
    return [(each, block) for each in pages() for block in each.blocks("python")]


def complete(block: Block) -> str:
    """Return a module of it, with what a fragment leaves to its reader."""
    before = "".join(each for began, each in BEFORE.items() if block.text.startswith(began))
    return LOOSE + before + block.text


def checked(*modules: Path) -> str:
    """Return what mypy finds in them, "" when that is nothing.

    By the settings and the cache of `make types`: without it this takes a minute.
    """
    settings = f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"
    # In a process of its own: it raises the recursion limit of the one that it is in.
    command = (sys.executable, "-m", "mypy", *settings, *map(str, modules))
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    return ended.stdout + ended.stderr if ended.returncode else ""


@pytest.mark.timeout(300)
def test_the_python_of_pages_passes_the_type_check(tmp_path: Path) -> None:
    """All in one run: what takes time is to read the harness."""
    modules = []
    for page, block in python_blocks():
        name = f"{page.path.stem}_line_{block.line}".replace("-", "_").replace(".", "_")
        modules.append(tmp_path / f"{name}.py")
        modules[-1].write_text(complete(block), encoding="utf-8")
    assert len(modules) > 5
    assert not checked(*modules)


@pytest.mark.timeout(300)
def test_a_name_that_has_gone_is_found(tmp_path: Path) -> None:
    """The test above would pass if tests on pages took their lab without its type."""
    gone = tmp_path / "gone.py"
    (front,) = (block for page, block in python_blocks() if page.name == "README.md")
    gone.write_text(front.text.replace("undisturbed", "stays_as_it_is"), encoding="utf-8")
    assert 'has no attribute "stays_as_it_is"' in checked(gone)
