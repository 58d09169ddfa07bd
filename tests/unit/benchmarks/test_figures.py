"""The table of a benchmark: statistics, budgets, and how it is written."""

import pytest

from benchmarks.figures import Row, Table, percentile


@pytest.mark.parametrize(
    ("percent", "expected"),
    [(0, 1.0), (1, 1.0), (50, 50.0), (99, 99.0), (99.5, 100.0), (100, 100.0)],
)
def test_percentile_is_the_nearest_rank(percent: float, expected: float) -> None:
    """It is one of the values: the first that so many percent of them do not exceed."""
    values = [float(each) for each in range(100, 0, -1)]
    assert percentile(values, percent) == expected


def test_percentile_of_one_value_is_that_value() -> None:
    """Few values are no reason to fail."""
    assert percentile([7.0], 99) == 7.0


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [(49.9, True), (50.0, True), (50.1, False), ("not measured", False), (None, False)],
)
def test_budget_is_met_by_a_number_within_it(figure: float | str | None, is_met: bool) -> None:  # noqa: FBT001 - a row of a table
    """What was not measured does not keep to a budget."""
    figures = {} if figure is None else {"ours": figure}
    assert Row("flap", "ms", figures, 50.0).is_met("ours") is is_met


def test_budgets_are_about_the_first_column() -> None:
    """Another plugin may take as long as it likes."""
    within = Row("flap", "ms", {"ours": 4.0, "theirs": 400.0}, 50.0)
    beyond = Row("start", "ms", {"ours": 400.0, "theirs": 4.0}, 50.0)
    free = Row("allocate", "ms", {"ours": 4000.0})
    assert Table(("ours", "theirs"), [within, beyond, free]).missed() == [beyond]


def test_table_is_aligned_markdown() -> None:
    """It can be read as printed, and pasted into a page."""
    table = Table(
        ("ours", "theirs"),
        [
            Row("flap", "ms", {"ours": 51.26, "theirs": "no flap"}, 50.0),
            Row("memory", "MiB", {"ours": 9.876, "theirs": 19.5}, 50.0),
            Row("start", "ms", {"ours": 123.45}),
        ],
    )
    assert table.lines() == [
        "|        | unit |  ours |  theirs | budget |        |",
        "| ------ | ---- | ----: | ------: | -----: | ------ |",
        "| flap   | ms   |  51.3 | no flap |   50.0 | MISSED |",
        "| memory | MiB  |  9.88 |    19.5 |   50.0 | ok     |",
        "| start  | ms   | 123.5 |       - |        |        |",
    ]
