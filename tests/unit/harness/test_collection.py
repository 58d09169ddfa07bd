"""Which scenarios there are, which are chosen, and in which order they run."""

from dataclasses import replace

import pytest

from lab.core.errors import UsageError
from lab.harness import collection
from lab.harness.collection import chosen, fleet_of
from lab.harness.lab import Lab
from lab.harness.order import ordered
from lab.harness.scenario import Scenario, scenario


@scenario(section="4.10.5", en="Too much", zh="太多", zh_why="太多。", tags=("scheduling",))
def too_much(lab: Lab) -> None:
    """Ask for too much."""
    del lab


ALL = (
    replace(too_much, name="flaps", section="4.5.2", tags=frozenset({"health"}), fleet="cards"),
    replace(too_much, name="fits", section="4.10.4"),
    too_much,
)


@pytest.fixture
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be three scenarios."""
    monkeypatch.setattr(collection, "scenarios", lambda: ALL)


@pytest.mark.usefixtures("_known")
@pytest.mark.parametrize(
    ("names", "sections", "tags", "found"),
    [
        ([], [], [], ["flaps", "fits", "too_much"]),
        (["fits"], [], [], ["fits"]),
        ([], ["4.10"], [], ["fits", "too_much"]),
        ([], ["4.10.5", "4.5"], [], ["flaps", "too_much"]),
        ([], ["4"], ["health"], ["flaps"]),
    ],
)
def test_scenarios_are_chosen_by_name_section_and_tag(
    names: list[str], sections: list[str], tags: list[str], found: list[str]
) -> None:
    """A section stands for those below it; what is given of each kind has to hold."""
    assert [each.name for each in chosen(names, sections, tags)] == found


@pytest.mark.usefixtures("_known")
@pytest.mark.parametrize(
    ("asked", "what", "seen"),
    [
        ({"names": ["fit"]}, "name 'fit'", "names that are near: fits"),
        ({"names": ["xyz"]}, "name 'xyz'", ""),
        (
            {"sections": ["5"]},
            "section '5'",
            "sections that there are: 4, 4.5, 4.5.2, 4.10, 4.10.4, 4.10.5",
        ),
        ({"tags": ["x"]}, "tag 'x'", "tags that there are: health, scheduling"),
    ],
)
def test_what_no_scenario_has_is_refused(asked: dict[str, list[str]], what: str, seen: str) -> None:
    """With what there is instead, in its order, or of many names what is near."""
    with pytest.raises(UsageError) as raised:
        chosen(**asked)
    assert raised.value.what == f"no scenario has the {what}"
    assert raised.value.seen == seen


@pytest.mark.usefixtures("_known")
def test_the_nearest_name_is_asked_for_first() -> None:
    """Where nothing is near, nothing is guessed."""
    with pytest.raises(UsageError) as raised:
        chosen(["to_much"])
    assert raised.value.remedy == "did you mean too_much? See which there are"
    with pytest.raises(UsageError) as raised:
        chosen(tags=["xyz"])
    assert raised.value.remedy == "see which there are"


@pytest.mark.usefixtures("_known")
def test_what_no_scenario_has_together_is_refused() -> None:
    """Nothing to run would be a run that held, whatever a pipeline meant by it."""
    with pytest.raises(UsageError) as raised:
        chosen(["too_much"], ["4.10.5"], ["health"])
    assert raised.value.what == (
        "no scenario has all of: name 'too_much', section '4.10.5', tag 'health'"
    )
    assert raised.value.commands == ("gpulab list --section 4.10.5", "gpulab list --tag health")


def test_every_tag_and_section_can_be_shown_when_one_is_misspelt() -> None:
    """A list of them that is cut off could leave out the one that was meant."""
    for asked in ({"tags": ["nothing-like-it"]}, {"sections": ["9.9.9"]}):
        with pytest.raises(UsageError) as raised:
            chosen(**asked)
        assert " more" not in raised.value.seen


def test_scenarios_of_one_fleet_follow_each_other() -> None:
    """A change of fleets costs seconds."""
    assert [each.name for each in ordered(ALL, 2, None)] == [
        *("flaps", "flaps"),
        *("fits", "too_much", "fits", "too_much"),
    ]


def test_a_seed_tells_the_order() -> None:
    """The same seed the same one, another seed another one, and always all of them."""
    many = [replace(too_much, name=f"s{number}") for number in range(9)]
    first, again, other = (ordered(many, 1, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert sorted(each.name for each in first) == sorted(each.name for each in many)


def test_a_seed_mixes_the_fleets_too() -> None:
    """What holds after one fleet alone is found by that; each fleet is placed once still."""
    many = [replace(too_much, name=f"s{each}", fleet=str(each // 2)) for each in range(12)]
    orders = {tuple(each.fleet for each in ordered(many, 1, seed)) for seed in range(9)}
    assert len(orders) > 1
    assert all([*order[::2]] == [*order[1::2]] for order in orders)


def test_every_scenario_has_a_fleet_that_loads() -> None:
    """And there are some."""
    found = collection.scenarios()
    assert len(found) > 1
    assert [each.name for each in found if not fleet_of(each).pools] == []


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"zh_why": " "}, "lacks zh_why"),
        ({"en": ""}, "lacks en"),
        ({"needs": ("fly",)}, "needs fly"),
    ],
)
def test_a_scenario_that_lacks_something_is_refused(
    changes: dict[str, object], problem: str
) -> None:
    """Where it is written, and not when it runs."""

    def lesson(lab: Lab) -> None:
        """Show that it is so."""
        del lab

    given: dict[str, object] = {"section": "4.1", "en": "So", "zh": "如此", "zh_why": "如此。"}
    with pytest.raises(ValueError, match=problem):
        scenario(**{**given, **changes})(lesson)  # type: ignore[arg-type]


def test_a_scenario_without_a_docstring_is_refused() -> None:
    """It is the English explanation."""

    def lesson(lab: Lab) -> None:
        del lab

    with pytest.raises(ValueError, match="lacks a docstring"):
        scenario(section="4.1", en="So", zh="如此", zh_why="如此。")(lesson)


def test_titles_are_in_two_languages() -> None:
    """English where none is asked for."""
    assert isinstance(too_much, Scenario)
    assert (too_much.title(), too_much.title("zh")) == ("Too much", "太多")
