"""The metrics of AMD's device-metrics-exporter.

Names in lower case, every one a gauge, labels those that the exporter always has, sorted by name
(ROCm/device-metrics-exporter, pkg/amdgpu/gpuagent/gpuagent_gpu_metrics.go). MI300 and later read
their power from the package and their temperature at the junction, MI200 an average and the edge
(docs/configuration/metricslist.md). In partition mode the sensors of the card are those of
partition 0, and none has a figure of activity; what is not there is left out, as the exporter does.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal, TypeAlias

from fake_plugin.hardware.breakage import DOUBLE_BIT, SINGLE_BIT, Breakage
from fake_plugin.hardware.reading import Reading
from fake_plugin.metrics.families import Family, Labels, Metric, Sample, gauge, only_holder
from fake_plugin.metrics.history import History

Value: TypeAlias = Callable[[Reading, History], float | None]
_MI200: Final = frozenset({"gfx90a"})
#: The clocks come as a list: eight of the system, then that of the memory.
_SYSTEM_CLOCK: Final = (("clock_index", "0"), ("clock_type", "system"))
_MEMORY_CLOCK: Final = (("clock_index", "8"), ("clock_type", "memory"))
_NODES: Final = gauge("gpu_nodes_total", "GPUs in the node, each partition one")


@dataclass(frozen=True, slots=True)
class _Figure:
    """One figure: `of` is what has it, `generation` which chips do, None all of them."""

    metric: Metric
    value: Value
    of: Literal["card", "whole card", "partition"] = "card"
    generation: Literal["MI200", "MI300"] | None = None
    labels: Labels = ()


def _ecc(bits: str) -> Value:
    return lambda reading, history: history.count(
        Breakage("ecc", bits), reading.card.uid, reading.unit
    )


def _percent(part: float) -> Value:
    return lambda reading, _: round(100 * reading.utilization * part)


def _watts(reading: Reading, _: History) -> float | None:
    return None if reading.power_watts is None else round(reading.power_watts)


def _energy(reading: Reading, _: History) -> float | None:
    return None if reading.energy_joules is None else int(reading.energy_joules * 1_000_000)


def _junction(reading: Reading, _: History) -> float | None:
    return reading.temperature_celsius


def _free(reading: Reading, _: History) -> float | None:
    total, used = reading.memory_total_mib, reading.memory_used_mib
    return None if total is None or used is None else total - used


#: Sorted by name, as the exporter's library prints them.
_FIGURES: Final = (
    _Figure(
        gauge("gpu_average_package_power", "Average power of the socket, in W"),
        _watts,
        generation="MI200",
    ),
    _Figure(
        gauge("gpu_clock", "Frequencies of the clocks, in MHz"),
        lambda reading, _: reading.clock_mhz,
        labels=_SYSTEM_CLOCK,
    ),
    _Figure(
        gauge("gpu_clock", "Frequencies of the clocks, in MHz"),
        lambda reading, _: reading.memory_clock_mhz,
        labels=_MEMORY_CLOCK,
    ),
    _Figure(gauge("gpu_ecc_correct_total", "Errors that were corrected"), _ecc(SINGLE_BIT)),
    _Figure(gauge("gpu_ecc_uncorrect_total", "Errors that were not corrected"), _ecc(DOUBLE_BIT)),
    _Figure(
        gauge("gpu_edge_temperature", "Temperature at the edge, in Celsius"),
        _junction,
        generation="MI200",
    ),
    _Figure(gauge("gpu_energy_consumed", "Energy used so far, in uJ"), _energy),
    _Figure(gauge("gpu_free_vram", "VRAM that is free, in MB"), _free, of="partition"),
    _Figure(
        gauge("gpu_gfx_activity", "Use of the graphics engine, in percent"),
        _percent(1.0),
        of="whole card",
    ),
    _Figure(
        gauge("gpu_health", "1 for a healthy GPU, 0 for another"),
        lambda reading, _: int(reading.healthy),
        of="partition",
    ),
    _Figure(
        gauge("gpu_junction_temperature", "Temperature at the junction, in Celsius"),
        _junction,
        generation="MI300",
    ),
    _Figure(
        gauge("gpu_memory_temperature", "Temperature of the memory, in Celsius"),
        lambda reading, _: reading.memory_temperature_celsius,
    ),
    _Figure(gauge("gpu_package_power", "Power of the socket, in W"), _watts, generation="MI300"),
    _Figure(gauge("gpu_power_usage", "Power of the GPU, in W"), _watts),
    _Figure(
        gauge("gpu_total_vram", "VRAM in all, in MB"),
        lambda reading, _: reading.memory_total_mib,
        of="partition",
    ),
    _Figure(
        gauge("gpu_umc_activity", "Use of the memory engine, in percent"),
        _percent(0.6),
        of="whole card",
    ),
    _Figure(
        gauge("gpu_used_vram", "VRAM in use, in MB"),
        lambda reading, _: reading.memory_used_mib,
        of="partition",
    ),
)


def families(readings: Iterable[Reading], history: History, node: str) -> Iterator[Family]:
    """Return the families of the AMD GPUs among the readings, sorted by name."""
    gpus = [each for each in readings if each.vendor == "amd"]
    if not gpus:
        return
    count = Family(_NODES, (Sample((("hostname", node),), len(gpus)),))
    found = [count, *_figures(gpus, history, node)]
    yield from sorted(found, key=lambda family: family.metric.name)


def _figures(gpus: Sequence[Reading], history: History, node: str) -> Iterator[Family]:
    for metric, figures in groupby(_FIGURES, lambda figure: figure.metric):
        yield Family(metric, _samples(tuple(figures), gpus, history, node))


def _samples(
    figures: Sequence[_Figure], gpus: Sequence[Reading], history: History, node: str
) -> Iterator[Sample]:
    for figure in figures:
        for index, gpu in enumerate(gpus):
            if _has(figure, gpu) and (value := figure.value(gpu, history)) is not None:
                labels = (*_identity(index, gpu, node), *figure.labels)
                yield Sample(tuple(sorted(labels)), value)


def _has(figure: _Figure, gpu: Reading) -> bool:
    generation = "MI200" if gpu.card.model and gpu.card.model.architecture in _MI200 else "MI300"
    if figure.generation not in (None, generation):
        return False
    if gpu.partition is None or figure.of == "partition":
        return True
    return figure.of == "card" and gpu.partition.index == 0


def _identity(index: int, gpu: Reading, node: str) -> Labels:
    compute, _, memory = (gpu.partition.profile.name if gpu.partition else "spx").partition("_")
    holder = only_holder(gpu.holders)
    return (
        ("card_model", gpu.card.model.product if gpu.card.model else ""),
        ("container", holder.container if holder else ""),
        ("deployment_mode", "baremetal"),
        ("gpu_compute_partition_type", compute),
        ("gpu_id", str(index)),
        ("gpu_memory_partition_type", memory or "nps1"),
        ("gpu_partition_id", str(gpu.partition.index if gpu.partition else 0)),
        ("hostname", node),
        ("job_id", ""),
        ("job_partition", ""),
        ("job_user", ""),
        ("kfd_process_id", ""),
        ("namespace", holder.namespace if holder else ""),
        ("pod", holder.pod if holder else ""),
        ("serial_number", gpu.card.serial),
    )
