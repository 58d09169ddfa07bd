"""The table of the units."""

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_plugin.hardware.reading import Reading
from fake_plugin.smi import table
from tests.unit.fake_plugin.smi.hardware import (
    ASCEND,
    CPX,
    H100,
    MI300X,
    SEVENTH,
    THIRD,
    broken,
    parts,
    unknown,
    whole,
)


def units_of(text: str) -> list[list[str]]:
    """Return the fields of the units."""
    return [line.split("|") for line in text.splitlines() if line.startswith("unit|")]


def test_table_begins_with_its_format_and_drivers() -> None:
    """A tool can tell a table that it does not know, and a vendor's versions."""
    assert table.render([]).splitlines() == [
        "gpulab-units|1|.",
        "driver|nvidia|570.133.20|12.8|.",
        "driver|amd|6.10.5|6.3.3|.",
        "driver|ascend|25.2.0|8.3.RC2|.",
    ]


def test_unit_is_one_line_of_facts() -> None:
    """All that is known of a card stands on one line."""
    reading = replace(whole(H100), memory_reserved_mib=540, clock_mhz=1980, memory_clock_mhz=2619)
    assert table.render([reading]).splitlines()[-1] == (
        "unit|nvidia|GPU-00000000-0000-4000-8000-000000000000"
        "|GPU-00000000-0000-4000-8000-000000000000|0|0000:19:00.0|1650000"
        "|NVIDIA H100 80GB HBM3|hopper|1||||ok||100|26980|81559|362.48|700|41|47|540|1980|2619|."
    )


@pytest.mark.parametrize(
    ("utilization", "percent"), [(0.0, "0"), (0.004, "0"), (0.799, "80"), (0.286, "29")]
)
def test_utilisation_is_rounded_to_percents(utilization: float, percent: str) -> None:
    """Cut off, a card at 79.9 would show 79 here and 80 in the metrics."""
    reading = replace(whole(H100), utilization=utilization)
    assert units_of(table.render([reading]))[0][15] == percent


def test_what_is_not_known_is_an_empty_field() -> None:
    """No figure is made up, and none is 0 for want of one."""
    fields = units_of(table.render([unknown(whole(ASCEND))]))[0]
    assert fields[6] == ""
    assert fields[15:] == ["100", "", "", "", "", "", "", "", "", "", "."]


def test_units_are_in_the_order_of_the_tools() -> None:
    """NVIDIA's come first, and each vendor's cards in the order of their numbers."""
    mixed = [whole(ASCEND), *reversed(parts(H100, 1, THIRD, SEVENTH)), whole(MI300X), whole(H100)]
    assert [(fields[1], fields[4], fields[11]) for fields in units_of(table.render(mixed))] == [
        ("nvidia", "0", ""),
        ("nvidia", "1", "0"),
        ("nvidia", "1", "1"),
        ("amd", "0", ""),
        ("ascend", "0", ""),
    ]


def test_plain_fake_devices_have_no_line() -> None:
    """No vendor's tool shows what has no vendor."""
    reading = whole(H100)
    assert units_of(table.render([replace(reading, card=replace(reading.card, model=None))])) == []


def test_mig_devices_have_the_numbers_of_gpu_instances() -> None:
    """As the driver gives them (`fake_plugin.hardware.gpu_instances`)."""
    fields = units_of(table.render(parts(H100, 0, THIRD, SEVENTH, SEVENTH)))
    assert [each[12] for each in fields] == ["1", "7", "8"]


def test_amd_partitions_are_named_in_capitals() -> None:
    """AMD's tools write CPX and NPS4, where the resource has them small."""
    assert units_of(table.render(parts(MI300X, 0, CPX)))[0][10] == "CPX_NPS4"


@pytest.mark.parametrize(
    ("kind", "code", "condition"),
    [
        ("xid", "79", "lost"),
        ("xid", "62", "failed"),
        ("xid", "31", "ok"),
        ("ecc", "single-bit", "ecc-corrected"),
        ("ecc", "double-bit", "ecc-uncorrected"),
        ("fault-code", "80E01801", "failed"),
        ("unspecified", "", "failed"),
    ],
)
def test_condition_is_what_the_driver_notices(kind: str, code: str, condition: str) -> None:
    """Each kind of fault has its look, and an application's error has none."""
    assert table.condition(broken(whole(H100), kind, code)) == condition


def test_sticky_health_is_not_the_hardwares() -> None:
    """A mended card that the plugin still calls unhealthy looks sound to its tool."""
    assert table.condition(replace(whole(H100), healthy=False)) == "ok"


@given(st.text(), st.text())
def test_no_text_can_leave_its_field(product: str, serial: str) -> None:
    """Whatever a fleet file calls its cards, a unit stays one line of the same fields."""
    reading = whole(H100)
    named = replace(
        reading,
        card=replace(reading.card, model=replace(H100, product=product), serial=serial),
    )
    text = table.render([named])
    assert text.isascii()
    assert [len(fields) for fields in units_of(text)] == [len(units_of(_plain(reading))[0])]
    assert text.count("\n") == len(_plain(reading).splitlines())


def _plain(reading: Reading) -> str:
    return table.render([reading])


def test_table_is_replaced_whole_and_readable_by_all(tmp_path: Path) -> None:
    """A container of any user reads the table, and nothing else is left in its folder."""
    table.write(tmp_path / "units", [whole(H100)])
    before = (tmp_path / "units" / table.NAME).stat()
    table.write(tmp_path / "units", [whole(H100), whole(H100, 1)])
    after = (tmp_path / "units" / table.NAME).stat()
    assert after.st_ino != before.st_ino
    assert stat.S_IMODE(after.st_mode) == 0o644
    assert [each.name for each in (tmp_path / "units").iterdir()] == [table.NAME]


def test_failed_write_leaves_the_old_table(tmp_path: Path) -> None:
    """Where the table cannot be put in place, an error says so, and no rubbish stays."""
    (tmp_path / table.NAME).mkdir()
    with pytest.raises(IsADirectoryError):
        table.write(tmp_path, [whole(H100)])
    assert [each.name for each in tmp_path.iterdir()] == [table.NAME]
