"""The metrics of NVIDIA's dcgm-exporter."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pytest
from syrupy.assertion import SnapshotAssertion

from fake_plugin.hardware.board import Board
from fake_plugin.hardware.breakage import Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics import dcgm
from fake_plugin.metrics.families import Family
from fake_plugin.metrics.history import History
from fake_plugin.metrics.style import Style
from tests.unit.fake_plugin.metrics.fixtures import (
    H100,
    MI300X,
    NODE,
    SLICE,
    T4,
    UNKNOWN,
    card,
    idle,
    part,
    pod,
    reading,
)
from tests.unit.fake_plugin.metrics.scrape import kept, names, samples, text, values

DEFAULT: Final = Style()
OPERATOR: Final = Style("operator")
#: etc/default-counters.csv: all that is not commented out.
DEFAULT_LIST: Final = {
    "SM_CLOCK", "MEM_CLOCK", "MEMORY_TEMP", "GPU_TEMP", "POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION",
    "PCIE_TX_THROUGHPUT", "PCIE_RX_THROUGHPUT", "PCIE_REPLAY_COUNTER", "GPU_UTIL", "MEM_COPY_UTIL",
    "ENC_UTIL", "DEC_UTIL", "XID_ERRORS", "FB_FREE", "FB_USED", "NVLINK_BANDWIDTH_TOTAL",
    "VGPU_LICENSE_STATUS", "UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS",
    "ROW_REMAP_FAILURE",
}  # fmt: skip
#: What etc/dcp-metrics-included.csv has besides, and what it does not have.
OPERATOR_ADDS: Final = {
    "DCGM_FI_DEV_FB_RESERVED", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES",
}  # fmt: skip
OPERATOR_DROPS: Final = {"DCGM_FI_DEV_PCIE_TX_THROUGHPUT", "DCGM_FI_DEV_PCIE_RX_THROUGHPUT"}
#: What a MIG instance has in scrapes that users have published.
OF_AN_INSTANCE: Final = {
    "SM_CLOCK", "MEM_CLOCK", "MEMORY_TEMP", "GPU_TEMP", "POWER_USAGE", "TOTAL_ENERGY_CONSUMPTION",
    "PCIE_REPLAY_COUNTER", "XID_ERRORS", "FB_FREE", "FB_USED", "NVLINK_BANDWIDTH_TOTAL",
    "VGPU_LICENSE_STATUS",
}  # fmt: skip


def of(history: History, *readings: Reading, style: Style = DEFAULT) -> list[Family]:
    """Return the families of readings."""
    return kept(dcgm.families(readings, history, NODE, style))


def prefixed(fields: Sequence[str] | set[str]) -> set[str]:
    """Return the full names of device fields."""
    return {f"DCGM_FI_DEV_{field}" for field in fields}


def mixed() -> list[Reading]:
    """Return a whole GPU that a pod holds, and one with two MIG instances, one of them held."""
    cut = card(H100, 1)
    first, second = (part(cut, index, SLICE) for index in (0, 1))
    held = pod("train", "ml", "cuda")
    return [reading(card(H100), None, held), reading(cut, first, held), idle(cut, second)]


@pytest.mark.parametrize(
    "style", [DEFAULT, Style("operator", "Hostname")], ids=["default", "operator"]
)
def test_answer_is_laid_out_as_the_exporters(
    history: History, style: Style, snapshot: SnapshotAssertion
) -> None:
    """Names, types, labels and their order; the older spelling of the node where asked for."""
    assert text(of(history, *mixed(), style=style)) == snapshot


def test_default_list_is_the_exporters(history: History) -> None:
    """A GPU of today has every field of it."""
    found = names(of(history, reading(card(H100))))
    assert set(found) == prefixed(DEFAULT_LIST)
    assert len(found) == len(DEFAULT_LIST)


def test_operators_list_is_another(history: History) -> None:
    """Profiling fields in, PCIe counters out."""
    found = set(names(of(history, reading(card(H100)), style=OPERATOR)))
    assert found == prefixed(DEFAULT_LIST) - OPERATOR_DROPS | OPERATOR_ADDS


def test_older_chips_retire_pages_and_remap_no_rows(history: History) -> None:
    """Turing and before; the operator's list has the pages."""
    found = set(names(of(history, reading(card(T4)), style=OPERATOR)))
    assert {"DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_RETIRED_DBE"} <= found
    assert not {name for name in found if "REMAP" in name}


def test_labels_come_in_the_exporters_order(history: History) -> None:
    """Identity, node, driver, then the pod's, sorted with the error's."""
    families = of(history, reading(card(H100), None, pod("train")), style=OPERATOR)
    (xid,) = [each for each in samples(families) if each.name == "DCGM_FI_DEV_XID_ERRORS"]
    assert list(xid.labels) == [
        "gpu", "UUID", "pci_bus_id", "device", "modelName", "hostname", "DCGM_FI_DRIVER_VERSION",
        "container", "err_code", "err_msg", "namespace", "pod",
    ]  # fmt: skip


def test_bus_id_is_as_nvml_writes_it(history: History) -> None:
    """The domain has eight digits, and letters are large."""
    (clock, *_) = samples(of(history, reading(card(H100))))
    assert clock.labels["pci_bus_id"] == "00000000:1A:00.0"


def test_instance_has_the_fields_of_an_instance(history: History) -> None:
    """No utilisation and no rows: the driver has none for a part of a GPU."""
    cut = card(H100)
    assert set(names(of(history, reading(cut, part(cut, 3, SLICE))))) == prefixed(OF_AN_INSTANCE)


def test_instance_is_named_beside_its_gpu(history: History) -> None:
    """UUID is that of the GPU, and the instance's number that of nvidia-smi (issue #544)."""
    cut = card(H100)
    units = [reading(cut, part(cut, index, SLICE)) for index in range(2)]
    clock, other, *_ = samples(of(history, *units))
    assert (clock.labels["UUID"], clock.labels["GPU_I_ID"]) == (cut.uid, "7")
    assert other.labels["GPU_I_ID"] == "8"
    assert list(clock.labels)[4:7] == ["modelName", "GPU_I_PROFILE", "GPU_I_ID"]


def test_shared_gpu_names_one_pod(history: History) -> None:
    """Four pods hold a quarter each, and the exporter names one (dcgm-exporter issue #201)."""
    shared = reading(card(H100), None, *(pod(f"pod-{number}") for number in range(4)))
    power = [s for s in samples(of(history, shared)) if s.name == "DCGM_FI_DEV_POWER_USAGE"]
    assert [(each.value, each.labels["pod"]) for each in power] == [(200.0, "pod-3")]


def test_idle_gpu_names_no_pod(history: History) -> None:
    """The labels are not there at all."""
    (clock, *_) = samples(of(history, idle(card(H100))))
    assert not {"pod", "namespace", "container"} & set(clock.labels)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DCGM_FI_DEV_SM_CLOCK", 1410),
        ("DCGM_FI_DEV_GPU_TEMP", 64),
        ("DCGM_FI_DEV_POWER_USAGE", 200.0),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1_500_500),
        ("DCGM_FI_DEV_GPU_UTIL", 75),
        ("DCGM_FI_DEV_MEM_COPY_UTIL", 45),
        ("DCGM_FI_DEV_FB_USED", 4096),
        ("DCGM_FI_DEV_FB_FREE", 8192 - 4096 - 100),
        ("DCGM_FI_DEV_FB_RESERVED", 100),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 0.75),
        ("DCGM_FI_PROF_PCIE_RX_BYTES", 1_500_000_000),
    ],
)
def test_value_is_in_the_fields_unit(history: History, name: str, value: float) -> None:
    """Millijoules, MiB, percent, or a part of one."""
    assert values(of(history, reading(card(H100)), style=OPERATOR), name) == [value]


def test_pcie_counters_follow_the_work_done(history: History) -> None:
    """A minute at full use receives 120 GB, in KB, and sends half of it."""
    families = of(history, reading(card(H100)))
    assert values(families, "DCGM_FI_DEV_PCIE_RX_THROUGHPUT") == [120_000_000]
    assert values(families, "DCGM_FI_DEV_PCIE_TX_THROUGHPUT") == [60_000_000]


def test_last_xid_has_its_text_and_outlives_the_repair(hardware: Board, history: History) -> None:
    """As `err_code` and `err_msg`, beside the value."""
    hardware.break_units([card(H100).uid], Breakage("xid", "74"))
    hardware.mend_units([card(H100).uid])
    (xid,) = [s for s in samples(of(history, reading(card(H100)))) if "XID" in s.name]
    assert (xid.value, xid.labels["err_code"], xid.labels["err_msg"]) == (74, "74", "NVLINK Error")


def test_memory_errors_remap_rows(hardware: Board, history: History) -> None:
    """Two bits are an uncorrectable one."""
    for bits in ("single-bit", "double-bit", "single-bit"):
        hardware.break_units([card(H100).uid], Breakage("ecc", bits))
    families = of(history, reading(card(H100)))
    assert values(families, "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS") == [2]
    assert values(families, "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS") == [1]


def test_lost_gpu_has_its_xid_and_nothing_else(hardware: Board, history: History) -> None:
    """DCGM has no value for what does not answer, and the exporter leaves those out."""
    lost = Breakage("xid", "79")
    hardware.break_units([card(H100).uid], lost)
    families = of(history, replace(reading(card(H100)), breakage=lost))
    assert names(families) == ["DCGM_FI_DEV_XID_ERRORS"]
    assert values(families, "DCGM_FI_DEV_XID_ERRORS") == [79]


def test_unknown_figure_is_left_out(history: History) -> None:
    """It is neither 0 nor a number that stands for nothing."""
    bare = replace(
        reading(card(UNKNOWN)), power_watts=None, energy_joules=None, memory_total_mib=None
    )
    found = set(names(of(history, bare)))
    assert not {name for name in found if re.search("POWER|ENERGY|FB_FREE", name)}
    assert "DCGM_FI_DEV_GPU_UTIL" in found


def test_other_vendors_are_not_there(history: History) -> None:
    """An AMD card and a plain device are no GPUs of NVIDIA's."""
    assert names(of(history, reading(card(MI300X)), reading(card(None)))) == []
