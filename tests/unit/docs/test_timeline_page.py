"""The page about timelines says what they say, and shows them."""

import json
from pathlib import Path
from typing import get_args

import pytest

from lab.harness.timeline.moment import Precision
from lab.harness.timeline.step import KINDS, Outcome, Source
from lab.harness.timeline.timeline import Timeline
from lab.harness.timeline.words import ACTORS, MARKS
from tests.unit.docs.pages import ROOT, Page, page
from tests.unit.harness.timeline.pictures import documents, pod_that_runs

PAGES = [page("docs/explanation/timeline.md"), page("docs/explanation/timeline.zh-CN.md")]
each_page = pytest.mark.parametrize("each", [pytest.param(each, id=each.name) for each in PAGES])
DRAWN = dict(documents())


@pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in DRAWN])
def test_picture_is_as_it_is_drawn(file: Path) -> None:
    """`python -m tests.unit.harness.timeline.pictures` draws them anew."""
    assert file.read_text(encoding="utf-8") == DRAWN[file]


@each_page
def test_every_picture_is_of_the_language_of_its_page(each: Page) -> None:
    """And all of that language are shown."""
    chinese = each.name.endswith(".zh-CN.md")
    shown = {link for link in each.links() if link.endswith(".svg")}
    assert shown == {file.name for file in DRAWN if (".zh-CN" in file.name) == chinese}


@each_page
def test_steps_are_those_of_the_code(each: Page) -> None:
    """Their numbers, in their order, and who takes them."""
    rows = [row for row in next(each.sections()).rows() if row[0].isdigit()]
    chinese = each.name.endswith(".zh-CN.md")
    names = {actor: said.zh if chinese else said.en for actor, said in ACTORS.items()}
    told = [[int(row[0]), row[1]] for row in rows]
    assert told == [
        [
            number,
            " → ".join(names[who] for who in dict.fromkeys((kind.actor, kind.to))),
        ]
        for number, kind in enumerate(KINDS, 1)
    ]


@each_page
def test_marks_are_those_of_the_code(each: Page) -> None:
    """Every way in which a step may end."""
    marks = [row[0] for section in each.sections() for row in section.rows() if len(row) == 2]
    assert marks == list(MARKS.values())


@each_page
def test_words_of_the_contract_are_all_named(each: Page) -> None:
    """A tool has to reckon with each of them."""
    (section,) = [each for each in each.sections() if "JSON" in each.title]
    for word in (*get_args(Precision), *get_args(Outcome), *filter(None, get_args(Source))):
        assert f"`{word}`" in section.text, word


@each_page
def test_example_is_a_timeline_for_tools(each: Page) -> None:
    """That of the picture, with one of its steps."""
    (block,) = each.blocks("json")
    example = json.loads(block.text)
    timeline = Timeline.of(pod_that_runs())
    (step,) = example.pop("steps")
    assert step in [each.as_json() for each in timeline.steps]
    assert {**example, "steps": []} == {**timeline.as_json(), "steps": []}


def test_twins_say_the_same_in_the_same_order() -> None:
    """The headings and tables of the one are those of the other, and the commands are the same."""
    english, chinese = PAGES
    assert english.twin == chinese.path
    assert [len(each.rows()) for each in english.sections()] == [
        len(each.rows()) for each in chinese.sections()
    ]
    assert [each.text for each in english.blocks()] == [each.text for each in chinese.blocks()]
    assert ROOT in english.path.parents
