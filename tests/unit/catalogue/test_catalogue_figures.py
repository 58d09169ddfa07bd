"""Figures: what is known can be ranked, and nothing else can."""

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.core.catalogue import UNKNOWN, Figure, Unrankable

Comparison = Callable[[Any, Any], bool]
COMPARISONS: list[Comparison] = [operator.lt, operator.le, operator.gt, operator.ge]


def figure(value: float | None, unit: str = "TFLOPS", *, dense: bool | None = True) -> Figure:
    """Return a figure with that value, or one that is not known."""
    if value is None:
        return Figure(UNKNOWN, unit, "nobody says", "none", dense)
    return Figure(value, unit, "a page", "secondary", dense)


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize(("left", "right"), [(None, 1), (1, None), (None, None)])
def test_an_unknown_figure_is_not_ranked(
    compare: Comparison, left: float | None, right: float | None
) -> None:
    """Whichever side it is on, the error says that it is not known, and what to do."""
    with pytest.raises(Unrankable, match=r"is not known \(nobody says\).*leave the model out"):
        compare(figure(left), figure(right))


@given(st.lists(st.floats(0, 1e6) | st.none(), min_size=2, max_size=8))
def test_a_list_with_an_unknown_figure_is_not_sorted(values: list[float | None]) -> None:
    """Sorting gives an error for any list that holds one, and the right order for others."""
    figures = [figure(value) for value in values]
    if None in values:
        with pytest.raises(Unrankable):
            sorted(figures)
    else:
        assert [each.known() for each in sorted(figures)] == sorted(
            v for v in values if v is not None
        )


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("other", [0, 1.0, UNKNOWN])
def test_an_unknown_value_is_not_ranked(compare: Comparison, other: object) -> None:
    """The value itself refuses as well, so that it cannot be taken for a number."""
    with pytest.raises(Unrankable, match="not known"):
        compare(UNKNOWN, other)


def test_an_unknown_value_is_no_condition() -> None:
    """`if figure.value` would call it 0 or not 0, and it is neither."""
    with pytest.raises(Unrankable, match="neither true nor false"):
        bool(UNKNOWN)


@pytest.mark.parametrize(
    "other",
    [figure(2, "GB/s"), figure(2, dense=False), figure(2, dense=None), 2, "2 TFLOPS"],
    ids=str,
)
def test_figures_of_two_kinds_are_not_ranked(other: Any) -> None:  # noqa: ANN401 - anything at all
    """A dense rate is no smaller than a sparse one, nor a rate than a memory."""
    with pytest.raises(Unrankable, match="they differ in kind"):
        operator.lt(figure(1), other)


@pytest.mark.parametrize(("small", "large"), [(0.0, 0.5), (0.5, 312.0), (312.0, 1979.0)])
def test_known_figures_are_ranked(small: float, large: float) -> None:
    """By their values, and 0 is one: there is no such arithmetic."""
    assert figure(small) < figure(large)
    assert figure(large) >= figure(small)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (figure(989), "989 TFLOPS dense"),
        (figure(1979, dense=False), "1979 TFLOPS sparse"),
        (figure(80, "GB", dense=None), "80 GB"),
        (figure(None, "W", dense=None), "unknown W"),
    ],
)
def test_a_figure_says_what_it_is(shown: Figure, text: str) -> None:
    """An error that quotes it can be understood."""
    assert str(shown) == text
