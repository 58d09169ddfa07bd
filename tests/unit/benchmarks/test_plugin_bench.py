"""The benchmark of the plugin, with small numbers and without what it is measured against."""

from pathlib import Path

import pytest

from benchmarks.contenders import Ours
from benchmarks.figures import Row, Table
from benchmarks.measurements import Bench, Extent, lateness_ms
from benchmarks.plugin import main, report
from lab.core.exit_codes import ExitCode
from lab.core.progress import Progress

SMALL = Extent(rounds=1, flaps=2, calls=3, few=2, many=5, resources=3, allocated={1: 1, 4: 3})


def test_everything_is_measured(tmp_path: Path, progress: Progress) -> None:
    """Each line of the table has a number for our plugin, and each flap led to a list."""
    bench = Bench(SMALL, Ours((), tmp_path), None, progress)
    bench.run()
    figures = {row.title: row.figures["gpu-lab"] for row in bench.table.rows}
    assert all(isinstance(figure, float) and figure > 0 for figure in figures.values())
    assert {title.partition(",")[0] for title in figures} == {
        "start to registered",
        "start to all registered",
        "memory (RSS)",
        "memory (PSS)",
        "memory (peak RSS)",
        "memory (peak RSS) after these flaps",
        "flap by command",
        "flap by script",
        "Allocate",
    }


@pytest.mark.parametrize(
    ("figure", "code", "told"),
    [
        (49.0, ExitCode.DONE, ""),
        (51.26, ExitCode.CHECK_FAILED, "budget missed: flap: 51.3 ms, at most 50 ms\n"),
        ("no flap", ExitCode.CHECK_FAILED, "budget missed: flap: no flap, at most 50 ms\n"),
    ],
)
def test_a_missed_budget_is_told_with_its_figure(
    capsys: pytest.CaptureFixture[str], figure: float | str, code: ExitCode, told: str
) -> None:
    """The last line is what a CI log shows."""
    table = Table(("ours",), [Row("flap", "ms", {"ours": figure}, 50.0)])
    assert report(table) is code
    assert capsys.readouterr().out == "\n".join(table.lines()) + "\n" + told


@pytest.mark.parametrize(
    ("unhealthy", "broken", "before", "late"),
    [(1, 1, 0, 0.0), (0, 0, 1, 0.0), (1, 1, -1, 0.0), (1, 0, 0, 80.0), (1, 1, 1, 80.0)],
)
def test_a_list_after_the_next_flap_is_late(
    unhealthy: int, broken: int, before: int, late: float
) -> None:
    """It is told by what it shows: a flap itself may be late, and its list in time."""
    assert lateness_ms(unhealthy, broken, before) == late


def test_nothing_cannot_be_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is refused before anything runs, with exit code 2."""
    with pytest.raises(SystemExit) as ended:
        main(["--rounds", "0"])
    assert ended.value.code == ExitCode.USAGE
    assert "argument --rounds: it must be 1 or more" in capsys.readouterr().err
