"""The numbers of GPU instances, which NVIDIA's tools and its exporter tell MIG devices apart by."""

from collections.abc import Iterable, Mapping
from itertools import count

from fake_plugin.hardware.reading import Reading


def gpu_instance_ids(readings: Iterable[Reading]) -> Mapping[str, int]:
    """Return the GPU instance IDs of the MIG devices among the readings, by the names of these.

    The driver numbers by size: whole card 0, halves from 1, quarters from 3, eighths from 7 (and on
    cards of four memory slices, quarters from 3). Seen in NVIDIA's MIG User Guide, "Creating GPU
    Instances", and as GPU_I_ID in NVIDIA/dcgm-exporter issue #544. Two on a card never have one
    number, whatever sizes a model is given.
    """
    found: dict[str, int] = {}
    taken: set[tuple[str, int]] = set()
    for each in readings:
        if each.partition and each.vendor == "nvidia":
            card = each.card.uid
            number = next(n for n in count(_first(each)) if (card, n) not in taken)
            taken.add((card, number))
            found[each.unit] = number
    return found


def _first(reading: Reading) -> int:
    """Return the number at which those of its size begin."""
    slices = reading.card.model.memory_slices if reading.card.model else 0
    size = reading.partition.profile.memory if reading.partition else 0
    return max(slices // size - 1, 0) if size else 0
