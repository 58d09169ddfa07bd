"""The metrics of Ascend's npu-exporter.

Names, gauges all, and labels as in Ascend/mind-cluster, component/npu-exporter/collector; labels
sorted by name and samples with the time at which they were read, as that exporter prints them.
Error codes have a row each while they last. A chip with HBM has no row of DDR, and the 310P no row
of HBM. A chip that is cut up has one row, and each vNPU that a container holds its `vnpu_pod_*`;
`container_npu_*` is not written for vNPUs, where it once repeated the figures of the whole chip.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from fake_plugin.hardware.card import Card, Partition
from fake_plugin.hardware.reading import Holder, Reading
from fake_plugin.metrics.families import Family, Labels, Metric, Sample, gauge, only_holder

EXPORTER_VERSION: Final = "7.0.0"
_KIB_PER_MIB: Final = 1024
_VOLTS: Final = 0.9
_HEX: Final = 16
#: How a chip is called of which the fleet does not say the architecture.
_SOME_CHIP: Final = "910"
#: Chips without HBM.
_DDR: Final = "310"


@dataclass(frozen=True, slots=True)
class _Chip:
    """A chip as a whole, whether it is cut up or not; `holder` holds alone all that is held."""

    card: Card
    readings: tuple[Reading, ...]
    holder: Holder | None
    #: Sorted by name.
    labels: Labels

    @property
    def sensors(self) -> Reading:
        """Return a reading whose sensors are those of the chip."""
        return self.readings[0]

    @property
    def architecture(self) -> str:
        """Return such as `910B3`."""
        return _architecture(self.card)

    @property
    def is_whole(self) -> bool:
        """Whether it is not cut up."""
        return self.sensors.partition is None

    @property
    def memory_used_mib(self) -> int | None:
        """Return what all parts use together, None where that is not known of one of them."""
        used = [each.memory_used_mib for each in self.readings if each.memory_used_mib is not None]
        return sum(used) if len(used) == len(self.readings) else None

    @property
    def error_codes(self) -> list[int]:
        """Return the codes of what is wrong with it now."""
        broken = [each.breakage for each in self.readings]
        return sorted({int(e.code, _HEX) for e in broken if e and e.kind == "fault-code"})


Value: TypeAlias = Callable[[_Chip], float | None]


def _total(chip: _Chip) -> float | None:
    return chip.card.model.memory_mib if chip.card.model else None


def _used(chip: _Chip) -> float | None:
    return chip.memory_used_mib


def _percent(chip: _Chip) -> float | None:
    return round(100 * chip.sensors.card_utilization)


def _hbm(value: Value) -> Value:
    return lambda chip: None if chip.architecture.startswith(_DDR) else value(chip)


def _ddr(value: Value) -> Value:
    return lambda chip: value(chip) if chip.architecture.startswith(_DDR) else None


def _held(value: Value) -> Value:
    """Leave out the chips that are cut up, that nobody holds, or that several hold."""
    return lambda chip: value(chip) if chip.is_whole and chip.holder else None


def _power(chip: _Chip) -> float | None:
    return None if chip.sensors.power_watts is None else round(chip.sensors.power_watts, 1)


_CHIP: Final[tuple[tuple[Metric, Value], ...]] = (
    (
        gauge("container_npu_total_memory", "memory of the NPU that the container has, in MB"),
        _held(_total),
    ),
    (
        gauge("container_npu_used_memory", "memory of the NPU that the container uses, in MB"),
        _held(_used),
    ),
    (
        gauge("container_npu_utilization", "use of the AI cores by the container, in percent"),
        _held(_percent),
    ),
    (
        gauge("npu_chip_info_aicore_current_freq", "frequency of the AI cores, in MHz"),
        lambda chip: chip.sensors.clock_mhz,
    ),
    (
        gauge("npu_chip_info_hbm_temperature", "temperature of the HBM, in Celsius"),
        _hbm(lambda chip: chip.sensors.memory_temperature_celsius),
    ),
    (gauge("npu_chip_info_hbm_total_memory", "HBM in all, in MB"), _hbm(_total)),
    (gauge("npu_chip_info_hbm_used_memory", "HBM in use, in MB"), _hbm(_used)),
    (
        gauge("npu_chip_info_health_status", "1 for a healthy NPU, 0 for another"),
        lambda chip: int(all(each.healthy for each in chip.readings)),
    ),
    (
        gauge("npu_chip_info_overall_utilization", "use of the NPU in all, in percent"),
        _hbm(_percent),
    ),
    (gauge("npu_chip_info_power", "power of the NPU, in W"), _power),
    (
        gauge("npu_chip_info_temperature", "temperature of the NPU, in Celsius"),
        lambda chip: chip.sensors.temperature_celsius,
    ),
    (gauge("npu_chip_info_total_memory", "memory in all, in MB"), _ddr(_total)),
    (gauge("npu_chip_info_used_memory", "memory in use, in MB"), _ddr(_used)),
    (gauge("npu_chip_info_utilization", "use of the AI cores, in percent"), _percent),
    (gauge("npu_chip_info_voltage", "voltage of the NPU, in V"), lambda _: _VOLTS),
)

_VNPU: Final[tuple[tuple[Metric, Callable[[Reading], float | None]], ...]] = (
    (
        gauge("vnpu_pod_aicore_utilization", "use of the AI cores of the vNPU, in percent"),
        lambda part: round(100 * part.utilization),
    ),
    (
        gauge("vnpu_pod_total_memory", "memory of the vNPU, in KB"),
        lambda part: _kib(part.memory_total_mib),
    ),
    (
        gauge("vnpu_pod_used_memory", "memory of the vNPU in use, in KB"),
        lambda part: _kib(part.memory_used_mib),
    ),
)
_COUNT: Final = gauge("machine_npu_nums", "NPUs in the machine")
_VERSION: Final = gauge("npu_exporter_version_info", "version of the exporter, with value 1")
_NAME: Final = gauge("npu_chip_info_name", "name of the NPU, with value 1")


def families(readings: Iterable[Reading], now: float) -> Iterator[Family]:
    """Return the families of the NPUs among the readings, sorted by name.

    `now` is in seconds since the epoch.
    """
    npus = [each for each in readings if each.vendor == "ascend"]
    if not npus:
        return
    chips = [_chip(tuple(parts)) for _, parts in groupby(npus, lambda npu: npu.card)]
    stamp = int(now * 1000)
    version = Sample((("exporterVersion", EXPORTER_VERSION),), 1)
    found = [
        Family(_COUNT, (Sample((), len(chips)),)),
        Family(_VERSION, (version,)),
        Family(_NAME, (Sample(_named(chip), 1, stamp) for chip in chips)),
        *_chip_families(chips, stamp),
        *_error_codes(chips, stamp),
        *_vnpu_families(npus, stamp),
    ]
    yield from sorted(found, key=lambda family: family.metric.name)


def _chip_families(chips: Sequence[_Chip], stamp: int) -> Iterator[Family]:
    for metric, value in _CHIP:
        figures = [(chip.labels, value(chip)) for chip in chips]
        yield _family(metric, figures, stamp)


def _error_codes(chips: Sequence[_Chip], stamp: int) -> Iterator[Family]:
    for at in range(max(len(chip.error_codes) for chip in chips)):
        suffix = f"_{at}" if at else ""
        metric = gauge(f"npu_chip_info_error_code{suffix}", "code of an error of the NPU")
        figures = [
            (chip.labels, chip.error_codes[at] if at < len(chip.error_codes) else None)
            for chip in chips
        ]
        yield _family(metric, figures, stamp)


def _vnpu_families(npus: Sequence[Reading], stamp: int) -> Iterator[Family]:
    held = [
        (_vnpu_labels(npu, npu.partition, holder), npu)
        for npu in npus
        if npu.partition and (holder := only_holder(npu.holders))
    ]
    for metric, value in _VNPU:
        yield _family(metric, [(labels, value(npu)) for labels, npu in held], stamp)


def _family(metric: Metric, figures: Iterable[tuple[Labels, float | None]], stamp: int) -> Family:
    known = (Sample(labels, value, stamp) for labels, value in figures if value is not None)
    return Family(metric, known)


def _chip(readings: tuple[Reading, ...]) -> _Chip:
    card = readings[0].card
    holder = only_holder(held for each in readings for held in each.holders)
    labels = (
        ("container_name", holder.container if holder else ""),
        ("id", str(card.minor)),
        ("model_name", _model_name(card)),
        ("namespace", holder.namespace if holder else ""),
        ("pcie_bus_info", card.pci.upper()),
        ("pod_name", holder.pod if holder else ""),
        ("vdie_id", card.serial),
    )
    return _Chip(card, readings, holder, labels)


def _named(chip: _Chip) -> Labels:
    renamed = ((("name" if name == "model_name" else name), value) for name, value in chip.labels)
    return tuple(sorted(renamed))


def _vnpu_labels(npu: Reading, partition: Partition, holder: Holder) -> Labels:
    """Return the labels of a vNPU, whose number is in its name: `Ascend910-2c-100-1`."""
    return (
        ("aicore_count", f"{partition.profile.compute:.2f}"),
        ("container_name", holder.container),
        ("id", str(npu.card.minor)),
        ("is_virtual", "true"),
        ("model_name", _model_name(npu.card)),
        ("namespace", holder.namespace),
        ("pod_name", holder.pod),
        ("v_dev_id", partition.uid.split("-")[-2]),
    )


def _model_name(card: Card) -> str:
    """Return the name as the driver puts it together: of the chip, its type and its version."""
    return f"{_architecture(card)}-Ascend-V1"


def _architecture(card: Card) -> str:
    return (card.model.architecture if card.model else None) or _SOME_CHIP


def _kib(mib: int | None) -> int | None:
    return None if mib is None else mib * _KIB_PER_MIB
