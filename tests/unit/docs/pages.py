"""The Markdown pages of the repository: their headings, links and fenced blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
_BLOCK: Final = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_TABLE_HEAD: Final = re.compile(r"^\|.*\n\|(?:-+\|)+\n", re.MULTILINE)
_LINK: Final = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page that it begins on."""

    language: str
    text: str
    line: int


@dataclass(frozen=True)
class Section:
    """What stands under one heading, up to the next heading of any level."""

    title: str
    text: str

    def rows(self) -> list[list[str]]:
        """Return the rows of all tables, cell by cell, without those that head a table."""
        lines = _TABLE_HEAD.sub("", self.text).splitlines()
        rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
        return [[cell.strip() for cell in row] for row in rows]


@dataclass(frozen=True)
class Page:
    """One page, read from its file."""

    path: Path

    @property
    def name(self) -> str:
        """The path from the root of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def text(self) -> str:
        """The whole page."""
        return self.path.read_text(encoding="utf-8")

    @property
    def prose(self) -> str:
        """The page without its blocks."""
        return _BLOCK.sub("", self.text)

    @property
    def twin(self) -> Path:
        """Where the Chinese page of the same content is."""
        return self.path.with_suffix(".zh-CN.md")

    def blocks(self, language: str = "") -> list[Block]:
        """Return the blocks of one language, or all."""
        return [block for block in blocks_of(self.text) if language in ("", block.language)]

    def links(self) -> list[str]:
        """Return the targets of the links that lead to other files or to headings."""
        targets: list[str] = _LINK.findall(self.prose)
        return [target for target in targets if "://" not in target]

    def anchors(self) -> set[str]:
        """Return the fragments by which headings can be linked to."""
        return {_anchor(title) for title in _HEADING.findall(self.prose)}

    def sections(self) -> Iterator[Section]:
        """Yield the parts of the page under each heading."""
        parts = _HEADING.split(self.text)
        for title, text in zip(parts[1::2], parts[2::2], strict=True):
            yield Section(title, text)

    def section(self, title: str) -> Section:
        """Return the one section with this title."""
        (found,) = (each for each in self.sections() if each.title == title)
        return found


def pages() -> list[Page]:
    """Return all pages of the repository, those of its root and those under docs."""
    return [Page(path) for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])]


def page(name: str) -> Page:
    """Return one page by its path from the root of the repository."""
    return Page(ROOT / name)


def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a text; lines are counted from its first one."""
    return [
        Block(match["language"], match["text"], text.count("\n", 0, match.start()) + 1)
        for match in _BLOCK.finditer(text)
    ]


def _anchor(title: str) -> str:
    """Make what GitHub makes of a heading: letters and digits kept, blanks as hyphens."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
