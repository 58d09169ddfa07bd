"""The numbers of GPU instances, which NVIDIA's tools and its exporter tell MIG devices apart by."""

from collections.abc import Iterable, Mapping
from itertools import count

from fake_plugin.hardware.card import Partition
from fake_plugin.hardware.reading import Reading


def gpu_instance_ids(readings: Iterable[Reading]) -> Mapping[str, int]:
    """Return the GPU instance IDs of the MIG devices among the readings, by the names of these."""
    parts = (each.partition for each in readings if each.vendor == "nvidia")
    return ids_of_parts(part for part in parts if part)


def ids_of_parts(parts: Iterable[Partition]) -> Mapping[str, int]:
    """Return the GPU instance IDs of MIG devices, all of a card's, by their names.

    The driver numbers by size: whole card 0, halves from 1, quarters from 3, eighths from 7 (and on
    cards of four memory slices, quarters from 3). Seen in NVIDIA's MIG User Guide, "Creating GPU
    Instances", and as GPU_I_ID in NVIDIA/dcgm-exporter issue #544. Two on a card never have one
    number, whatever sizes a model is given.
    """
    found: dict[str, int] = {}
    taken: set[tuple[str, int]] = set()
    # Resources list the devices of a card by profile, and two profiles may be of one size.
    for part in sorted(parts, key=lambda part: part.index):
        card = part.card.uid
        number = next(n for n in count(_first(part)) if (card, n) not in taken)
        taken.add((card, number))
        found[part.uid] = number
    return found


def _first(part: Partition) -> int:
    """Return the number at which those of its size begin."""
    slices = part.card.model.memory_slices if part.card.model else 0
    size = part.profile.memory
    return max(slices // size - 1, 0) if size else 0
