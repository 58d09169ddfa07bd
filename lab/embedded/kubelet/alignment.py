"""Which devices lie where, seen from a container: hints for the policy, and what its choice means.

Sources: devicemanager/topology_hints.go, manager.go:filterByAffinity.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lab.embedded.kubelet.device import Device
from lab.embedded.kubelet.numa import Mask, masks
from lab.embedded.kubelet.topology import Hint


@dataclass(frozen=True)
class Split:
    """Free devices: on the nodes that were chosen, on others, and on no node or none in mind."""

    aligned: frozenset[str]
    unaligned: frozenset[str]
    indifferent: frozenset[str]


def has_topology(devices: Collection[Device]) -> bool:
    """Tell whether a NUMA node is given for any device: then the resource is to be aligned."""
    return any(device.numa for device in devices)


def split(free: Mapping[str, Device], mask: Mask | None) -> Split:
    """Sort the free devices by the mask that was chosen; None stands for no choice."""
    if mask is None:
        return Split(frozenset(), frozenset(), frozenset(free))
    aligned = {each.id for each in free.values() if mask.has_any(each.numa or ())}
    indifferent = {each.id for each in free.values() if not each.numa}
    unaligned = free.keys() - aligned - indifferent
    return Split(frozenset(aligned), frozenset(unaligned), frozenset(indifferent))


def hints(
    devices: Collection[Device],
    free: Collection[Device],
    reusable: Collection[Device],
    wanted: int,
    nodes: Sequence[int],
) -> list[Hint]:
    """Return every mask of `nodes` that has enough free devices, with all that are reusable.

    Preferred are those as narrow as the narrowest that has enough devices at all, free or not.
    """
    narrowest = len(nodes)
    possible = []
    for mask in masks(nodes):
        if sum(mask.has_any(each.numa or ()) for each in devices) >= wanted:
            narrowest = min(narrowest, mask.bit_count())
        placed = [each for each in reusable if each.numa is not None]
        if not all(mask.has_any(each.numa or ()) for each in placed):
            continue
        if len(placed) + sum(mask.has_any(each.numa or ()) for each in free) >= wanted:
            possible.append(mask)
    return [Hint(mask, mask.bit_count() == narrowest) for mask in possible]


def nodes_to_try(
    devices: Collection[Device], machine: Sequence[int], *, with_devices_only: bool
) -> list[int]:
    """Return the NUMA nodes that masks are made of: the machine's, or those that have devices.

    From 1.36 on it is the latter, where there are any; a node that the machine does not have is
    left out, as no mask would match it before.
    """
    if not with_devices_only:
        return list(machine)
    return sorted({node for each in devices for node in each.numa or ()} & {*machine}) or [*machine]
