"""The units of a node as the tools in containers read them: one line each, in one small file.

    gpulab-units|1|.
    driver|nvidia|570.133.20|12.8|.
    unit|nvidia|GPU-…|…|.

A shell reads it: fields between bars, an empty one for what is not known, and a full stop at the
end, so that no line ends in an empty field. The folder is mounted into containers and not the file:
a file that is replaced by a rename is seen through a folder, and not through a mount of itself.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from fake_plugin.files.replacement import replace
from fake_plugin.hardware.accelerator import Vendor
from fake_plugin.hardware.breakage import DOUBLE_BIT, SINGLE_BIT, Breakage
from fake_plugin.hardware.driver import DRIVERS
from fake_plugin.hardware.gpu_instances import gpu_instance_ids
from fake_plugin.hardware.reading import Reading

#: The programs refuse another one, as a tool refuses a driver that it was not made for.
FORMAT: Final = 1
NAME: Final = "units"
_READABLE_BY_ALL: Final = 0o644
#: What the memory's own correction counts, whether or not the plugin minds.
_COUNTED: Final = {
    Breakage("ecc", SINGLE_BIT): "ecc-corrected",
    Breakage("ecc", DOUBLE_BIT): "ecc-uncorrected",
}


def render(readings: Iterable[Reading]) -> str:
    """Return the table; readings of cards without a model are left out, no tool shows them."""
    return "".join(_lines(readings))


def write(folder: Path, readings: Iterable[Reading]) -> None:
    """Replace the table in `folder`, whole at once; OSError where the node does not let it."""
    folder.mkdir(parents=True, exist_ok=True)
    # Line by line: the whole of a node with thousands of units would take megabytes of memory.
    replace(folder / NAME, _lines(readings), _READABLE_BY_ALL)


def condition(reading: Reading) -> str:
    """Return what the driver would notice: ok, lost, failed, ecc-corrected or ecc-uncorrected.

    It is the hardware's, and not what the plugin says of it: where health is sticky, a mended card
    is unhealthy to the kubelet and sound to the tools.
    """
    breakage = reading.breakage
    if breakage is None:
        return "ok"
    if breakage in _COUNTED:
        return _COUNTED[breakage]
    if breakage.is_ignored:
        return "ok"
    return "lost" if reading.is_lost else "failed"


def _lines(readings: Iterable[Reading]) -> Iterator[str]:
    units = [each for each in readings if each.card.model]
    units.sort(key=lambda each: (each.card.minor, each.partition.index if each.partition else 0))
    yield _line("gpulab-units", FORMAT)
    for vendor, versions in DRIVERS.items():
        yield _line("driver", vendor, *versions)
    for vendor in DRIVERS:
        yield from _lines_of(vendor, [each for each in units if each.vendor == vendor])


def _lines_of(vendor: Vendor, units: list[Reading]) -> Iterator[str]:
    instances = gpu_instance_ids(units)
    for unit in units:
        yield _line("unit", vendor, *_fields(unit, instances.get(unit.unit)))


def _fields(unit: Reading, instance: int | None) -> Iterator[object]:
    """Yield what units.sh takes apart, in its order."""
    card, part, model = unit.card, unit.partition, unit.card.model
    yield from (unit.unit, card.uid, card.minor, card.pci.upper(), card.serial)
    yield from (model.product, model.architecture) if model else (None, None)
    yield 1 if model and model.profiles else 0
    yield from (_profile(unit), part.index if part else None, instance)
    yield condition(unit)
    yield unit.breakage.code if unit.breakage else None
    yield round(unit.utilization * 100)
    yield from (unit.memory_used_mib, unit.memory_total_mib)
    yield None if unit.power_watts is None else f"{unit.power_watts:.2f}"
    yield model.power_watts if model else None
    yield from (unit.temperature_celsius, unit.memory_temperature_celsius)
    yield from (unit.memory_reserved_mib, unit.clock_mhz, unit.memory_clock_mhz)


def _profile(unit: Reading) -> str | None:
    """Return how the card is cut, as its tool spells it: AMD's shouts."""
    if not unit.partition:
        return None
    name = unit.partition.profile.name
    return name.upper() if unit.vendor == "amd" else name


def _line(*fields: object) -> str:
    return "|".join([*(_clean(field) for field in fields), "."]) + "\n"


def _clean(field: object) -> str:
    """Return the field in plain ASCII and without bars: it can neither end its field nor a line.

    A letter of another alphabet would have one width for one shell and two for the next.
    """
    text = "" if field is None else str(field)
    if text.isascii() and text.isprintable() and "|" not in text:
        return text
    return "".join(each if " " <= each <= "~" and each != "|" else "?" for each in text)
