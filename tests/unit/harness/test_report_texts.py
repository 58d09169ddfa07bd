"""Texts of others, as the page of a run has them, and the commands that it names."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.harness.report.again import commands
from lab.harness.report.excerpt import Excerpt
from tests.unit.harness.reported import passed

LIMIT = 32 * 1024


def test_short_text_is_whole() -> None:
    """Up to the limit."""
    assert Excerpt.of_text("a" * LIMIT) == Excerpt("a" * LIMIT)


@given(st.lists(st.integers(0, 3000), min_size=20, max_size=60))
def test_nothing_is_lost_without_being_told(lengths: list[int]) -> None:
    """What is shown and what is left out are together the whole, and no more than the limit."""
    text = "".join("x" * each + "\n" for each in lengths)
    found = Excerpt.of_text(text)
    assert len(found.head) + found.left_out + len(found.tail) == len(text)
    assert len(found.head) + len(found.tail) <= LIMIT
    assert text.startswith(found.head)
    assert text.endswith(found.tail)


def test_text_is_cut_between_lines() -> None:
    """Half a line could be taken for a whole one."""
    found = Excerpt.of_text("".join(f"line {number}\n" for number in range(10_000)))
    assert found.head.endswith("\n")
    assert found.tail.startswith("line ")


def test_one_line_that_is_too_long_is_cut_all_the_same(tmp_path: Path) -> None:
    """In the middle of it, and of a character if need be."""
    file = tmp_path / "f"
    file.write_bytes("好".encode() * 20_000)
    found = Excerpt.of_file(file)
    assert found.left_out == 60_000 - LIMIT
    assert found.head[:-1] == "好" * (8 * 1024 // 3)


def test_what_is_no_utf_8_is_shown_as_such(tmp_path: Path) -> None:
    """A log may hold anything."""
    (tmp_path / "f").write_bytes(b"a\xffb")
    assert Excerpt.of_file(tmp_path / "f").head == "a\ufffdb"


@pytest.mark.parametrize(
    ("tests", "expected"),
    [
        (["001-a", "002-b", "003-a"], ["gpulab run a b --name 'my lab'"]),
        (["a"], ["gpulab run a --name 'my lab'"]),
        (["t.py::test_x[a b]"], ["pytest 't.py::test_x[a b]' --name 'my lab'"]),
        (
            ["001-a", "t.py::x", "t.py::y"],
            ["gpulab run a --name 'my lab'", "pytest t.py::x t.py::y --name 'my lab'"],
        ),
        (["001---help", "b"], ["gpulab run --name 'my lab' -- --help b"]),
        (["-x.py::y", "@x::y"], ["pytest ./-x.py::y ./@x::y --name 'my lab'"]),
        (["001-$(rm -r x)"], ["gpulab run '$(rm -r x)' --name 'my lab'"]),
        ([], []),
    ],
)
def test_commands_run_the_tests_again(tests: list[str], expected: list[str]) -> None:
    """Each once, and nothing but those, on the same lab."""
    options = ("--name", "my lab")
    assert [*commands(replace(passed(), test=each, options=options) for each in tests)] == expected


def test_tests_on_other_labs_have_a_command_of_their_own() -> None:
    """A folder may hold the results of several runs."""
    other = replace(passed(), test="002-b", options=("--name", "x", "--backend", "kind"))
    again = replace(passed(), test="t.py::x", options=("--lab-use=x",))
    assert [*commands([passed(), other, again, replace(other, test="003-c")])] == [
        "gpulab run oversubscription --name a-lab",
        "gpulab run b c --name x --backend kind",
        "pytest t.py::x --lab-use=x",
    ]
