"""Which devices a container should get, of those that are free: GetPreferredAllocation.

What a container gets whole, it gets from as few NUMA nodes as can be. Replicas follow the policy of
NVIDIA's plugin (internal/rm/allocate.go). Shares of a card come from one card where one has enough.

The kubelet's own choice is random, and it takes the answer as a wish: what is unknown here, named
twice or too much is left out, and there is never a reason to fail.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fake_plugin.device import Device
from fake_plugin.vendors.offer import Spread


def choose(
    devices: Sequence[Device],
    available: Iterable[str],
    must_include: Iterable[str],
    size: int,
    spread: Spread,
) -> list[str]:
    """Return the IDs of up to `size` devices: what must be included first, then the best others.

    `devices` are all of the resource, whose order decides where nothing else does.
    """
    if size <= 0:
        return []
    by_id = {device.id: device for device in devices}
    # dict.fromkeys drops what is named twice and keeps the order.
    must = [by_id[name] for name in dict.fromkeys(must_include) if name in by_id][:size]
    wanted = set(available).difference(device.id for device in must)
    free = [device for device in devices if device.id in wanted]
    needed = size - len(must)
    if needed >= len(free):
        chosen = free
    elif spread == "together":
        chosen = _together(free, must, needed)
    elif any(device.replica is not None for device in free):
        chosen = _replicas(devices, free, must, needed, spread)
    else:
        chosen = _near(free, must, needed)
    return [device.id for device in (*must, *chosen)]


def _near(free: list[Device], must: list[Device], needed: int) -> list[Device]:
    """Return devices of the fewest NUMA nodes; devices without one count as a node's of their own.

    The nodes of what must be included cost nothing. Then the smallest node that has enough, and
    until there is one, the largest: fewer nodes cannot do.
    """
    groups: dict[object, list[Device]] = {}
    for device in free:
        groups.setdefault(device.numa, []).append(device)
    return _from_groups(groups, [device.numa for device in must], needed)


def _together(free: list[Device], must: list[Device], needed: int) -> list[Device]:
    """Return shares of the fewest cards, in the same way."""
    groups: dict[object, list[Device]] = {}
    for device in free:
        groups.setdefault(device.unit, []).append(device)
    return _from_groups(groups, [device.unit for device in must], needed)


def _from_groups(
    groups: dict[object, list[Device]], first: Iterable[object], needed: int
) -> list[Device]:
    chosen: list[Device] = []
    for name in dict.fromkeys(first):
        chosen += groups.pop(name, [])[: needed - len(chosen)]
    while len(chosen) < needed:
        left = needed - len(chosen)
        enough = [name for name, group in groups.items() if len(group) >= left]
        # Both take the first of those that are equal, which is the first in the list of devices.
        best = (
            min(enough, key=lambda name: len(groups[name]))
            if enough
            else max(groups, key=lambda name: len(groups[name]))
        )
        chosen += groups.pop(best)[:left]
    return chosen


@dataclass(order=True)
class _Unit:
    """Hardware with free replicas; the first three fields, in their order, are its rank."""

    shared: int
    picked: int
    place: int
    free: list[Device] = field(default_factory=list, compare=False)


def _replicas(
    devices: Sequence[Device],
    free: list[Device],
    must: list[Device],
    needed: int,
    spread: Spread,
) -> list[Device]:
    """Return replicas of the hardware that is shared least, or most, one by one.

    Shared means the replicas that are not free. Of hardware that is shared alike, the one that
    less was taken of.
    """
    sign = -1 if spread == "packed" else 1
    heap = _units(devices, free, must, sign)
    heapq.heapify(heap)
    chosen: list[Device] = []
    while len(chosen) < needed:
        unit = heapq.heappop(heap)
        chosen.append(unit.free.pop(0))
        unit.shared += sign
        unit.picked += 1
        if unit.free:
            heapq.heappush(heap, unit)
    return chosen


def _units(
    devices: Sequence[Device], free: list[Device], must: list[Device], sign: int
) -> list[_Unit]:
    """Return the hardware that has free replicas; what is shared counts by `sign`."""
    units: dict[str, _Unit] = {}
    for at, device in enumerate(free):
        unit = units.setdefault(device.unit, _Unit(0, 0, at))
        unit.free.append(device)
        unit.shared -= sign
    for device in devices:
        if device.unit in units:
            units[device.unit].shared += sign
    for device in must:
        if device.unit in units:
            units[device.unit].picked += 1
    return list(units.values())
