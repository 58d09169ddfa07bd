"""Every scenario: what it has to have, and what it must not know of."""

import ast
import inspect
import re
from pathlib import Path
from typing import Final

import pytest

from lab.harness import Scenario
from lab.harness.collection import fleet_of, scenarios

ALL: Final = scenarios()
FLEETS: Final = Path(inspect.getfile(ALL[0].body)).parent / "fleets"
#: The sections of the chapter, by how many parts each has.
PARTS: Final = {1: 0, 2: 0, 3: 0, 4: 0, 5: 5, 6: 0, 7: 0, 8: 0, 9: 0, 10: 9, 11: 0}
SECTIONS: Final = {
    f"4.{section}{part}"
    for section, parts in PARTS.items()
    for part in ("", *(f".{number}" for number in range(1, parts + 1)))
}
ERRATA: Final = range(1, 9)
#: What the chapter says of the GPU Operator.
OPERATORS: Final = 7
TAGS: Final = {
    "allocate",
    "cdi",
    "containers",
    "errata",
    "health",
    "mig",
    "numa",
    "oversubscription",
    "registration",
    "requests",
    "restart",
    "scheduling",
    "sharing",
    "vendors",
}
HAN: Final = re.compile(r"[\u4e00-\u9fff]")
#: A Chinese sentence has Chinese punctuation.
HALF_WIDTH: Final = re.compile(r"[\u4e00-\u9fff][,.;:?!()]|[,;?!()][\u4e00-\u9fff]")
#: See docs/contributing/chinese-terms.md.
OTHER_WORDS: Final = ("插件", "调度器", "接纳", "时间切片")
#: What a real cluster is made of, or a real clock: a scenario has to hold on others, too.
FOREIGN: Final = ("kind", "docker", "kubectl", "sleep(", "time.", "control-plane")

every_scenario = pytest.mark.parametrize("scenario", ALL, ids=lambda each: each.name)


def source_of(scenario: Scenario) -> str:
    """Return the text of a scenario's file."""
    return Path(inspect.getfile(scenario.body)).read_text(encoding="utf-8")


def body_of(scenario: Scenario) -> str:
    """Return the statements of a scenario, without what it says of itself."""
    (function,) = (
        each for each in ast.parse(source_of(scenario)).body if isinstance(each, ast.FunctionDef)
    )
    return "\n".join(map(ast.unparse, function.body[1:]))


def test_there_are_scenarios() -> None:
    """The tests below are about something."""
    assert len(ALL) >= 45


def test_each_erratum_of_the_chapter_is_shown() -> None:
    """But that of the operator, of which there is no scenario yet."""
    assert {each.erratum for each in ALL} - {0} == set(ERRATA) - {OPERATORS}


@every_scenario
def test_it_belongs_to_a_section_of_the_chapter(scenario: Scenario) -> None:
    """Of those that the chapter has."""
    assert scenario.section in SECTIONS


@every_scenario
def test_its_titles_are_sentences_in_both_languages(scenario: Scenario) -> None:
    """Without a full stop, and not too long for a line of a list."""
    english, chinese = scenario.title("en"), scenario.title("zh")
    assert not HAN.search(english)
    assert HAN.search(chinese)
    assert not english.endswith(".")
    assert not chinese.endswith("。")
    assert len(english) <= 100
    assert len(chinese) + len(HAN.findall(chinese)) <= 100


@every_scenario
def test_its_chinese_is_written_as_chinese_is(scenario: Scenario) -> None:
    """With full-width punctuation, and with the words of the other Chinese pages."""
    text = scenario.title("zh") + "\n" + scenario.reasons["zh"]
    assert not HALF_WIDTH.findall(text)
    assert [word for word in OTHER_WORDS if word in text] == []
    assert scenario.reasons["zh"].endswith(("。", "\N{FULLWIDTH RIGHT PARENTHESIS}"))


@every_scenario
def test_its_fleet_is_there(scenario: Scenario) -> None:
    """And is one."""
    assert fleet_of(scenario).pools


@every_scenario
def test_its_tags_and_its_erratum_are_known(scenario: Scenario) -> None:
    """An erratum is found by its tag, too."""
    assert scenario.tags
    assert scenario.tags <= TAGS
    assert scenario.erratum in {0, *ERRATA}
    assert ("errata" in scenario.tags) == bool(scenario.erratum)


@every_scenario
def test_it_imports_the_harness_and_nothing_else(scenario: Scenario) -> None:
    """So it can hold on any backend."""
    imports = [
        each
        for each in ast.walk(ast.parse(source_of(scenario)))
        if isinstance(each, ast.Import | ast.ImportFrom)
    ]
    assert [ast.unparse(each).split(" import ")[0] for each in imports] == ["from lab.harness"]


@every_scenario
def test_it_is_a_short_story(scenario: Scenario) -> None:
    """That names neither a real cluster's parts nor a clock."""
    body = body_of(scenario)
    assert len(body.splitlines()) <= 30
    assert [word for word in FOREIGN if word in body] == []


@every_scenario
def test_its_constants_name_nothing_that_its_story_may_not(scenario: Scenario) -> None:
    """What containers run, and all else that stands outside of the function."""
    own = (ast.Assign, ast.AnnAssign, ast.Expr)
    module = [each for each in ast.parse(source_of(scenario)).body[1:] if isinstance(each, own)]
    text = "\n".join(map(ast.unparse, module))
    assert [word for word in FOREIGN if word in text] == []


@pytest.mark.parametrize("file", sorted(FLEETS.glob("*.yaml")), ids=lambda each: each.stem)
def test_a_fleet_is_used_and_says_what_it_is(file: Path) -> None:
    """A file that no scenario places is one too many."""
    assert file.read_text(encoding="utf-8").startswith("# ")
    by_name = {each.fleet for each in ALL}
    assert file.stem in by_name or any(f'"{file.stem}"' in source_of(each) for each in ALL)
