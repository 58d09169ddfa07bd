"""The metrics of Ascend's npu-exporter."""

from dataclasses import replace
from typing import Final

import pytest
from syrupy.assertion import SnapshotAssertion

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics import ascend
from fake_plugin.metrics.families import Family
from tests.unit.fake_plugin.metrics.fixtures import (
    ASCEND,
    ASCEND_310P,
    H100,
    NOW,
    VNPU,
    card,
    idle,
    part,
    pod,
    reading,
)
from tests.unit.fake_plugin.metrics.scrape import kept, names, samples, text, values

LABELS: Final = [
    "container_name", "id", "model_name", "namespace", "pcie_bus_info", "pod_name", "vdie_id",
]  # fmt: skip


def of(*readings: Reading) -> list[Family]:
    """Return the families of readings."""
    return kept(ascend.families(readings, NOW))


def mixed() -> list[Reading]:
    """Return a whole chip that a pod holds, and one with two vNPUs, one of them held."""
    cut = card(ASCEND, 1)
    first, second = (part(cut, index, VNPU) for index in (0, 1))
    held = pod("train", "ml", "cann")
    return [reading(card(ASCEND), None, held), reading(cut, first, held), idle(cut, second)]


def test_answer_is_laid_out_as_the_exporters(snapshot: SnapshotAssertion) -> None:
    """Families and labels sorted by name, and times behind the values."""
    assert text(of(*mixed())) == snapshot


def test_families_and_labels_are_sorted() -> None:
    """So does the library of the exporter."""
    families = of(*mixed())
    assert names(families) == sorted(names(families))
    found = [each for each in samples(families) if each.name == "npu_chip_info_power"]
    assert [list(each.labels) for each in found] == [LABELS, LABELS]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("machine_npu_nums", 1),
        ("npu_chip_info_utilization", 75),
        ("npu_chip_info_temperature", 64),
        ("npu_chip_info_power", 200.0),
        ("npu_chip_info_health_status", 1),
        ("npu_chip_info_hbm_total_memory", 65536),
        ("npu_chip_info_hbm_used_memory", 4096),
        ("npu_chip_info_name", 1),
        ("container_npu_utilization", 75),
        ("container_npu_used_memory", 4096),
    ],
)
def test_value_is_in_the_metrics_unit(name: str, value: float) -> None:
    """MB, percent, watts."""
    assert values(of(reading(card(ASCEND), None, pod("train"))), name) == [value]


def test_samples_carry_the_time_of_reading() -> None:
    """The counts of the machine do not."""
    found = {each.name: each.timestamp for each in samples(of(reading(card(ASCEND))))}
    assert found["npu_chip_info_power"] == NOW
    assert found["machine_npu_nums"] is None


def test_chip_without_hbm_has_its_memory_under_another_name() -> None:
    """And no power where the model's is not known."""
    found = set(names(of(replace(reading(card(ASCEND_310P)), power_watts=None))))
    assert {"npu_chip_info_total_memory", "npu_chip_info_used_memory"} <= found
    assert not {name for name in found if "hbm" in name or "power" in name}


def test_chip_that_nobody_or_several_hold_has_no_container() -> None:
    """Neither figures of one nor names."""
    shared = reading(card(ASCEND, 1), None, pod("one"), pod("two"))
    families = of(idle(card(ASCEND)), shared)
    assert not [name for name in names(families) if name.startswith("container_")]
    found = [s.labels["pod_name"] for s in samples(families) if s.name == "npu_chip_info_power"]
    assert found == ["", ""]


def test_error_codes_are_numbers_while_they_last() -> None:
    """Each in a family of its own; a sound chip has none."""
    cut = card(ASCEND)
    first, second = (
        replace(reading(cut, part(cut, at, VNPU)), breakage=Breakage("fault-code", code))
        for at, code in enumerate(("80E01801", "80C98009"))
    )
    families = of(first, second, reading(card(ASCEND, 1)))
    assert values(families, "npu_chip_info_error_code") == [0x80C98009]
    assert values(families, "npu_chip_info_error_code_1") == [0x80E01801]
    assert not [n for n in names(of(reading(card(ASCEND)))) if "error" in n]


def test_unhealthy_chip_has_status_zero() -> None:
    """One broken part makes the chip unhealthy."""
    broken = replace(reading(card(ASCEND)), healthy=False)
    assert values(of(broken), "npu_chip_info_health_status") == [0]


def test_cut_chip_is_one_chip_with_the_memory_of_all_parts() -> None:
    """No `container_npu_*`: it would repeat the figures of the whole chip."""
    families = of(*mixed()[1:])
    assert values(families, "machine_npu_nums") == [1]
    assert values(families, "npu_chip_info_hbm_used_memory") == [4096]
    assert values(families, "npu_chip_info_hbm_total_memory") == [65536]
    assert not [name for name in names(families) if name.startswith("container_")]


def test_memory_of_a_chip_is_left_out_where_a_part_does_not_tell_it() -> None:
    """A sum of some parts would look as if the rest were free."""
    _, first, second = mixed()
    families = of(first, replace(second, memory_used_mib=None))
    assert values(families, "npu_chip_info_hbm_used_memory") == []
    assert values(families, "npu_chip_info_hbm_total_memory") == [65536]


def test_vnpu_has_its_own_figures_while_it_is_held() -> None:
    """In KB, and with the number of its cores."""
    families = of(*mixed())
    assert values(families, "vnpu_pod_used_memory") == [4096 * 1024]
    (total,) = [each for each in samples(families) if each.name == "vnpu_pod_total_memory"]
    assert (total.labels["aicore_count"], total.labels["v_dev_id"]) == ("5.00", "100")
    assert total.labels["pod_name"] == "train"


def test_other_vendors_are_not_there() -> None:
    """Not even a number of NPUs."""
    assert of(reading(card(H100))) == []
