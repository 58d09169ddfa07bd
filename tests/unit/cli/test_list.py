"""What `gpulab list` shows of the scenarios."""

import json

import pytest

from lab.cli.main import run
from tests.unit.cli.two_nodes import Output


def listed(capsys: Output, *options: str) -> str:
    """Return what is shown."""
    assert run(["list", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("language", "begins"), [("en", "With CDI, "), ("zh", "用 CDI ")])
def test_a_scenario_has_a_line(capsys: Output, language: str, begins: str) -> None:
    """Its section, its name and its title."""
    lines = listed(capsys, "--tag", "cdi", "--language", language).splitlines()
    (line,) = (each for each in lines if "cdi_devices_come_by_name" in each)
    section, name, title = line.split(maxsplit=2)
    assert (section, name) == ("4.5.5", "cdi_devices_come_by_name")
    assert title.startswith(begins)


def test_tags_are_shown_with_how_many_have_them(capsys: Output) -> None:
    """Of those that are listed: they are what --tag takes."""
    lines = listed(capsys, "--tag", "cdi").splitlines()
    assert lines[-1].startswith("tags: ")
    assert "cdi (2)" in lines[-1]
    assert "health" not in lines[-1]
    assert "health (" in listed(capsys).splitlines()[-1]


def test_tools_are_told_all_of_it(capsys: Output) -> None:
    """In both languages."""
    (first, *_) = json.loads(listed(capsys, "--tag", "cdi", "--output", "json"))["scenarios"]
    assert first.keys() == {
        *("name", "section", "fleet", "titles", "reasons", "tags", "needs", "slow", "erratum")
    }
    assert first["titles"].keys() == {"en", "zh"}
