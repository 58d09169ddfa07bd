"""The fields of DCGM that the exporter prints: names, types, order, and what each reads.

Source: NVIDIA/dcgm-exporter, etc/default-counters.csv (`default`) and, as the GPU Operator uses it,
etc/dcp-metrics-included.csv (`operator`). The order is that of DCGM's field numbers, as the
exporter prints them. What a MIG instance does not have, and what older chips have instead, is as in
scrapes that users have published.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from fake_plugin.hardware.breakage import DOUBLE_BIT, SINGLE_BIT, Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics.families import Metric, Type
from fake_plugin.metrics.history import History
from fake_plugin.metrics.style import LISTS, List

Value: TypeAlias = Callable[[Reading, History], float | None]

#: Chips that retire pages where later ones remap rows.
_RETIRE_PAGES: Final = frozenset({"pascal", "volta", "turing"})
_PCIE_BYTES_PER_SECOND: Final = 2_000_000_000
_XID_ERRORS: Final = "DCGM_FI_DEV_XID_ERRORS"


@dataclass(frozen=True, slots=True)
class Field:
    """One field: None as its value means that DCGM knows none, and the exporter leaves it out.

    `instances` says whether a MIG instance has it. With `decimals`, DCGM's value is a float.
    """

    metric: Metric
    value: Value
    lists: tuple[List, ...] = LISTS
    instances: bool = True
    decimals: int | None = None

    @property
    def is_xid(self) -> bool:
        """Whether this is the last Xid: all that can be read of a lost GPU."""
        return self.metric.name == _XID_ERRORS


def _gauge(name: str, text: str) -> Metric:
    return _metric(name, "gauge", text)


def _counter(name: str, text: str) -> Metric:
    return _metric(name, "counter", text)


def _metric(name: str, kind: Type, text: str) -> Metric:
    return Metric(f"DCGM_FI_{name}", kind, text)


def _zero(_: Reading, __: History) -> float:
    return 0


def _share(part: float) -> Value:
    return lambda reading, _: reading.utilization * part


def _percent(part: float) -> Value:
    return lambda reading, _: round(100 * reading.utilization * part)


def _traffic(part: float) -> Value:
    """Return what counts the kilobytes over PCIe."""
    return lambda reading, _: (
        None
        if reading.busy_seconds is None
        else int(reading.busy_seconds * _PCIE_BYTES_PER_SECOND * part / 1000)
    )


def _energy(reading: Reading, _: History) -> float | None:
    return None if reading.energy_joules is None else int(reading.energy_joules * 1000)


def _free(reading: Reading, _: History) -> float | None:
    total, used, kept = (
        reading.memory_total_mib,
        reading.memory_used_mib,
        reading.memory_reserved_mib,
    )
    return None if total is None or used is None else total - used - (kept or 0)


def _last_xid(reading: Reading, history: History) -> float:
    return history.last_xid(reading.unit, reading.card.uid)


def _memory_errors(bits: str, *, retire_pages: bool) -> Value:
    """Return what counts ECC errors, on the chips that mend them in that way."""

    def value(reading: Reading, history: History) -> float | None:
        model = reading.card.model
        if model is None or (model.architecture in _RETIRE_PAGES) != retire_pages:
            return None
        return history.count(Breakage("ecc", bits), reading.card.uid)

    return value


def _remap_failure(reading: Reading, _: History) -> float | None:
    model = reading.card.model
    return None if model is None or model.architecture in _RETIRE_PAGES else 0


#: In the order of the exporter's answer.
FIELDS: Final = (
    Field(
        _gauge("DEV_SM_CLOCK", "Frequency of the SM clock (in MHz)."),
        lambda reading, _: reading.clock_mhz,
    ),
    Field(
        _gauge("DEV_MEM_CLOCK", "Frequency of the memory clock (in MHz)."),
        lambda reading, _: reading.memory_clock_mhz,
    ),
    Field(
        _gauge("DEV_MEMORY_TEMP", "Temperature of the memory (in C)."),
        lambda reading, _: reading.memory_temperature_celsius,
    ),
    Field(
        _gauge("DEV_GPU_TEMP", "Temperature of the GPU (in C)."),
        lambda reading, _: reading.temperature_celsius,
    ),
    Field(
        _gauge("DEV_POWER_USAGE", "Power in use (in W)."),
        lambda reading, _: reading.power_watts,
        decimals=6,
    ),
    Field(
        _counter("DEV_TOTAL_ENERGY_CONSUMPTION", "Energy used since the start (in mJ)."), _energy
    ),
    Field(
        _counter("DEV_PCIE_TX_THROUGHPUT", "Sent over PCIe, as NVML counts it (in KB)."),
        _traffic(0.5),
        lists=("default",),
        instances=False,
    ),
    Field(
        _counter("DEV_PCIE_RX_THROUGHPUT", "Received over PCIe, as NVML counts it (in KB)."),
        _traffic(1.0),
        lists=("default",),
        instances=False,
    ),
    Field(_counter("DEV_PCIE_REPLAY_COUNTER", "Retries on PCIe."), _zero),
    Field(_gauge("DEV_GPU_UTIL", "Utilization of the GPU (in %)."), _percent(1.0), instances=False),
    Field(
        _gauge("DEV_MEM_COPY_UTIL", "Utilization of the memory interface (in %)."),
        _percent(0.6),
        instances=False,
    ),
    Field(_gauge("DEV_ENC_UTIL", "Utilization of the encoder (in %)."), _zero, instances=False),
    Field(_gauge("DEV_DEC_UTIL", "Utilization of the decoder (in %)."), _zero, instances=False),
    Field(_gauge("DEV_XID_ERRORS", "Code of the last XID error."), _last_xid),
    Field(_gauge("DEV_FB_FREE", "Framebuffer memory that is free (in MiB)."), _free),
    Field(
        _gauge("DEV_FB_USED", "Framebuffer memory in use (in MiB)."),
        lambda reading, _: reading.memory_used_mib,
    ),
    Field(
        _gauge("DEV_FB_RESERVED", "Framebuffer memory that the driver keeps (in MiB)."),
        lambda reading, _: reading.memory_reserved_mib,
        lists=("operator",),
    ),
    Field(
        _counter("DEV_RETIRED_SBE", "Pages retired for single-bit errors."),
        _memory_errors(SINGLE_BIT, retire_pages=True),
        lists=("operator",),
        instances=False,
    ),
    Field(
        _counter("DEV_RETIRED_DBE", "Pages retired for double-bit errors."),
        _memory_errors(DOUBLE_BIT, retire_pages=True),
        lists=("operator",),
        instances=False,
    ),
    Field(
        _counter("DEV_UNCORRECTABLE_REMAPPED_ROWS", "Rows remapped for uncorrectable errors."),
        _memory_errors(DOUBLE_BIT, retire_pages=False),
        instances=False,
    ),
    Field(
        _counter("DEV_CORRECTABLE_REMAPPED_ROWS", "Rows remapped for correctable errors."),
        _memory_errors(SINGLE_BIT, retire_pages=False),
        instances=False,
    ),
    Field(
        _gauge("DEV_ROW_REMAP_FAILURE", "Whether rows could not be remapped."),
        _remap_failure,
        instances=False,
    ),
    Field(_counter("DEV_NVLINK_BANDWIDTH_TOTAL", "Traffic over all lanes of NVLink."), _zero),
    Field(_gauge("DEV_VGPU_LICENSE_STATUS", "Status of the vGPU license."), _zero),
    Field(
        _gauge("PROF_GR_ENGINE_ACTIVE", "Part of the time that the graphics engine is active."),
        _share(1.0),
        lists=("operator",),
        decimals=6,
    ),
    Field(
        _gauge("PROF_PIPE_TENSOR_ACTIVE", "Part of the cycles that the tensor pipe is active."),
        _share(0.5),
        lists=("operator",),
        decimals=6,
    ),
    Field(
        _gauge("PROF_DRAM_ACTIVE", "Part of the cycles that the memory sends or receives."),
        _share(0.6),
        lists=("operator",),
        decimals=6,
    ),
    Field(
        _gauge("PROF_PCIE_TX_BYTES", "Sent over PCIe, with protocol (in bytes per second)."),
        lambda reading, _: int(reading.utilization * _PCIE_BYTES_PER_SECOND * 0.5),
        lists=("operator",),
        instances=False,
    ),
    Field(
        _gauge("PROF_PCIE_RX_BYTES", "Received over PCIe, with protocol (in bytes per second)."),
        lambda reading, _: int(reading.utilization * _PCIE_BYTES_PER_SECOND),
        lists=("operator",),
        instances=False,
    ),
)
