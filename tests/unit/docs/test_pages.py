"""What every page must keep: its links, its Chinese twin, its fleets."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from lab.core.fleet import load_fleet
from tests.unit.docs.pages import ROOT, Page, page, pages

CHINESE = ".zh-CN.md"
#: What learners read; reference and explanation are in English alone.
FOR_LEARNERS = ("README.md", "docs/walkthrough.md", "docs/how-to/")
TERMS = page("docs/contributing/chinese-terms.md").section("Terms of the Chinese pages")
HEADER = "apiVersion: gpu-lab/v1\nkind: Fleet\n"


def named(found: list[Page]) -> list[object]:
    """Return the pages as parameters that are called by their paths."""
    return [pytest.param(each, id=each.name) for each in found]


def learners_pages() -> list[Page]:
    """Return the English pages that learners read."""
    return [
        each
        for each in pages()
        if each.name.startswith(FOR_LEARNERS) and not each.name.endswith(CHINESE)
    ]


def shape(each: Page) -> list[str]:
    """Return what begins each heading and each row of a table, in their order."""
    return re.findall(r"^#+|^\|", each.prose, re.MULTILINE)


def without_comments(shell: str) -> list[str]:
    """Return the commands of a block: comments are in the language of their page."""
    return [re.sub(r"\s+#.*$", "", line) for line in shell.splitlines()]


@pytest.mark.parametrize("each", named(pages()))
def test_relative_links_lead_somewhere(each: Page) -> None:
    """The file is there, and so is the heading that the fragment names."""
    for link in each.links():
        path, _, fragment = unquote(link).partition("#")
        target = Page((each.path.parent / path).resolve() if path else each.path)
        assert target.path.exists(), link
        if fragment:
            assert fragment in target.anchors(), link


def test_there_are_pages_for_learners() -> None:
    """The tests below would pass for want of pages."""
    assert {"README.md", "docs/walkthrough.md"} <= {each.name for each in learners_pages()}


@pytest.mark.parametrize("each", named(learners_pages()))
def test_a_page_for_learners_is_there_in_chinese_with_the_same_blocks(each: Page) -> None:
    """What a learner types and sees does not depend on the language of the page."""
    chinese = Page(each.twin)
    assert [block.language for block in chinese.blocks()] == [
        block.language for block in each.blocks()
    ]
    for ours, theirs in zip(each.blocks("sh"), chinese.blocks("sh"), strict=True):
        assert without_comments(theirs.text) == without_comments(ours.text)
    for ours, theirs in zip(each.blocks("text"), chinese.blocks("text"), strict=True):
        assert theirs.text == ours.text


@pytest.mark.parametrize("each", named(learners_pages()))
def test_twins_link_to_each_other(each: Page) -> None:
    """A reader who landed on the wrong page finds the other one."""
    assert each.twin.name in each.links()
    assert each.path.name in Page(each.twin).links()


@pytest.mark.parametrize("each", named(learners_pages()))
def test_twins_have_the_same_headings_and_tables(each: Page) -> None:
    """A part that was added to one page alone is missing on the other."""
    assert shape(Page(each.twin)) == shape(each)


@pytest.mark.parametrize("each", named([Page(each.twin) for each in learners_pages()]))
def test_chinese_pages_use_the_terms_that_are_agreed(each: Page) -> None:
    """The last column of the table has what they are not to say."""
    avoided = [row[2] for row in TERMS.rows() if row[2]]
    assert avoided
    assert [word for word in avoided if word in each.prose] == []


@pytest.mark.parametrize("each", named([each for each in pages() if each.blocks("yaml")]))
def test_fleets_in_pages_load(each: Page, tmp_path: Path) -> None:
    """A fleet that a reader copies is one that the lab takes."""
    file = tmp_path / "fleet.yaml"
    for block in each.blocks("yaml"):
        if block.text.startswith(("pools:", HEADER)):
            file.write_text(HEADER + block.text.removeprefix(HEADER), encoding="utf-8")
            assert load_fleet(file).nodes(), f"line {block.line}"


def test_some_page_shows_a_fleet() -> None:
    """The test above would pass for want of fleets."""
    assert any(block.text.startswith(HEADER) for block in page("README.md").blocks("yaml"))


@pytest.mark.parametrize("each", named(pages()))
def test_blocks_say_what_they_are(each: Page) -> None:
    """Each block names its language, and each fence is closed."""
    assert all(block.language for block in each.blocks())
    assert "```" not in each.prose
    assert ROOT in each.path.parents
