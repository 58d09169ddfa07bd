"""Figures of several plugins beside each other, with the budgets that they are held against."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

#: What stands in a cell where there is nothing to measure.
NOTHING: Final = "-"
_MISSED: Final = "MISSED"
_MET: Final = "ok"


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest of the values that `percent` % of them do not exceed (nearest rank)."""
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure per column, and the most that the first column may show.

    A figure that is text says why there is no number.
    """

    title: str
    unit: str
    figures: Mapping[str, float | str]
    budget: float | None = None

    def is_met(self, column: str) -> bool:
        """Whether the column keeps to the budget; a budget without a number is not met."""
        if self.budget is None:
            return True
        figure = self.figures.get(column)
        return isinstance(figure, float | int) and figure <= self.budget


@dataclass
class Table:
    """Rows under columns, the first of which the budgets are about."""

    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)

    def missed(self) -> list[Row]:
        """Return the rows whose budget the first column does not keep to."""
        return [row for row in self.rows if not row.is_met(self.columns[0])]

    def lines(self) -> list[str]:
        """Return the table as Markdown, aligned to be read as it stands."""
        head = ["", "unit", *self.columns, "budget", ""]
        return _aligned([head, *(self._cells(row) for row in self.rows)])

    def _cells(self, row: Row) -> list[str]:
        figures = [_shown(row.figures.get(column, NOTHING)) for column in self.columns]
        verdict = _MET if row.is_met(self.columns[0]) else _MISSED
        limits = ["", ""] if row.budget is None else [_shown(row.budget), verdict]
        return [row.title, row.unit, *figures, *limits]


def _shown(figure: float | str) -> str:
    if isinstance(figure, str):
        return figure
    return f"{figure:.2f}" if figure < 10 else f"{figure:.1f}"  # noqa: PLR2004 - three digits


def _aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    # Text to the left, numbers to the right.
    padded = [
        [
            cell.ljust(width) if at in {0, 1, len(widths) - 1} else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]
    rule = [
        "-" * width if at in {0, 1, len(widths) - 1} else "-" * (width - 1) + ":"
        for at, width in enumerate(widths)
    ]
    return [f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:])]
