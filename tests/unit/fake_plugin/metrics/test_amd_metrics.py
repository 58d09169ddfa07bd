"""The metrics of AMD's device-metrics-exporter."""

from dataclasses import replace
from typing import Final

import pytest
from syrupy.assertion import SnapshotAssertion

from fake_plugin.hardware.accelerator import Accelerator
from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics import amd
from fake_plugin.metrics.families import Family
from fake_plugin.metrics.history import History
from tests.unit.fake_plugin.metrics.fixtures import (
    CPX,
    H100,
    MI210,
    MI300X,
    NODE,
    card,
    idle,
    part,
    pod,
    reading,
)
from tests.unit.fake_plugin.metrics.scrape import kept, names, samples, text, values

#: gpuMandatoryLables of the exporter, sorted as its library does.
LABELS: Final = [
    "card_model", "container", "deployment_mode", "gpu_compute_partition_type", "gpu_id",
    "gpu_memory_partition_type", "gpu_partition_id", "hostname", "job_id", "job_partition",
    "job_user", "kfd_process_id", "namespace", "pod", "serial_number",
]  # fmt: skip


def of(history: History, *readings: Reading) -> list[Family]:
    """Return the families of readings."""
    return kept(amd.families(readings, history, NODE))


def mixed() -> list[Reading]:
    """Return a whole GPU that a pod holds, and one with two partitions, one of them held."""
    cut = card(MI300X, 1)
    first, second = (part(cut, index, CPX) for index in (0, 1))
    held = pod("train", "ml", "rocm")
    return [reading(card(MI300X), None, held), idle(cut, first), reading(cut, second, held)]


def test_answer_is_laid_out_as_the_exporters(history: History, snapshot: SnapshotAssertion) -> None:
    """Families and labels sorted by name."""
    assert text(of(history, *mixed())) == snapshot


def test_families_and_labels_are_sorted(history: History) -> None:
    """So does the library of the exporter."""
    families = of(history, reading(card(MI300X)))
    assert names(families) == sorted(names(families))
    found = [each for each in samples(families) if each.name == "gpu_health"]
    assert [list(each.labels) for each in found] == [LABELS]


@pytest.mark.parametrize(
    ("model", "there", "missing"),
    [
        (
            MI300X,
            {"gpu_package_power", "gpu_junction_temperature"},
            {"gpu_average_package_power", "gpu_edge_temperature"},
        ),
        (
            MI210,
            {"gpu_average_package_power", "gpu_edge_temperature"},
            {"gpu_package_power", "gpu_junction_temperature"},
        ),
    ],
    ids=["MI300", "MI200"],
)
def test_generations_have_sensors_of_their_own(
    history: History, model: Accelerator, there: set[str], missing: set[str]
) -> None:
    """Under names of their own."""
    found = set(names(of(history, reading(card(model)))))
    assert there <= found
    assert not missing & found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gpu_nodes_total", 1),
        ("gpu_gfx_activity", 75),
        ("gpu_umc_activity", 45),
        ("gpu_package_power", 200),
        ("gpu_power_usage", 200),
        ("gpu_energy_consumed", 1_500_500_000),
        ("gpu_junction_temperature", 64),
        ("gpu_memory_temperature", 70),
        ("gpu_total_vram", 8192),
        ("gpu_used_vram", 4096),
        ("gpu_free_vram", 4096),
        ("gpu_health", 1),
    ],
)
def test_value_is_in_the_metrics_unit(history: History, name: str, value: float) -> None:
    """Microjoules, MB, percent, watts."""
    assert values(of(history, reading(card(MI300X))), name) == [value]


def test_sensors_of_a_cut_card_are_those_of_its_first_partition(history: History) -> None:
    """Power is there once, memory and health for each part, activity for none."""
    families = of(history, *mixed()[1:])
    assert values(families, "gpu_package_power") == [200]
    assert len(values(families, "gpu_used_vram")) == len(values(families, "gpu_health")) == 2
    assert "gpu_gfx_activity" not in names(families)
    assert values(families, "gpu_nodes_total") == [2]


def test_partition_is_named_by_its_modes(history: History) -> None:
    """Those of compute and of memory, and its number on the card."""
    second = [s for s in samples(of(history, *mixed())) if s.name == "gpu_health"][2].labels
    assert (second["gpu_id"], second["gpu_partition_id"]) == ("2", "1")
    assert second["gpu_compute_partition_type"] == "cpx"
    assert second["gpu_memory_partition_type"] == "nps4"


def test_pod_is_named_where_it_is_alone(history: History) -> None:
    """Several holders of one GPU are none of them the holder."""
    alone = reading(card(MI300X), None, pod("one"))
    shared = reading(card(MI300X, 1), None, pod("one"), pod("two"))
    found = [s.labels["pod"] for s in samples(of(history, alone, shared)) if s.name == "gpu_health"]
    assert found == ["one", ""]


def test_errors_are_counted_by_kind(hardware: Board, history: History) -> None:
    """One that was not corrected, and that makes the GPU unhealthy."""
    hardware.break_units([card(MI300X).uid], Breakage("ecc", "double-bit"))
    families = of(history, replace(reading(card(MI300X)), healthy=False))
    assert values(families, "gpu_ecc_uncorrect_total") == [1]
    assert values(families, "gpu_ecc_correct_total") == [0]
    assert values(families, "gpu_health") == [0]


def test_other_vendors_are_not_there(history: History) -> None:
    """Not even a number of GPUs."""
    assert of(history, reading(card(H100))) == []
