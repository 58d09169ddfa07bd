"""Which devices a container gets: devicesToAllocate of devicemanager/manager.go.

The order of the checks and their texts are those of the kubelet. Which of several free devices is
taken is random, as it is there; here it comes from one seed.
"""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lab.embedded.kubelet.alignment import has_topology, split
from lab.embedded.kubelet.connection import PluginError
from lab.embedded.kubelet.go_text import quoted
from lab.embedded.kubelet.ledger import Ledger
from lab.embedded.kubelet.numa import Mask


class AllocationError(Exception):
    """A container gets no devices; the text is the kubelet's own."""


@dataclass(frozen=True)
class Wish:
    """What a container needs of one resource, and what is known beforehand."""

    pod_uid: str
    container: str
    resource: str
    count: int
    #: Devices of init containers that are over, to be taken first.
    reusable: frozenset[str]
    #: It ran over a restart of the kubelet, which has not yet heard of all its pods.
    ran_before: bool
    #: The NUMA nodes that were chosen for it, None for any.
    mask: Mask | None = None


class Selection:
    """Takes devices for one wish; `chosen` are then allocated, in the ledger as well."""

    def __init__(self, wish: Wish, ledger: Ledger, rng: random.Random) -> None:
        self.chosen: set[str] = set()
        self._wish = wish
        self._ledger = ledger
        self._rng = rng

    def make(self) -> None:
        """Choose as many devices as are wanted, or none where nothing is to be done.

        Raises `AllocationError`; what was taken until then stays allocated.
        """
        with self._ledger.lock:
            if self._is_needed():
                self._choose()

    def _is_needed(self) -> bool:
        wish = self._wish
        held = self._ledger.holdings.ids(wish.pod_uid, wish.container, wish.resource)
        if held is not None and len(held) != wish.count:
            raise AllocationError(
                f"pod {quoted(wish.pod_uid)} container {quoted(wish.container)} changed request "
                f"for resource {quoted(wish.resource)} from {len(held)} to {wish.count}"
            )
        if wish.ran_before:
            return False
        healthy = self._ledger.healthy.get(wish.resource)
        if healthy is None:
            raise AllocationError(f"cannot allocate unregistered device {wish.resource}")
        # Asked before the count is looked at, so a request of 0 fails as well (#109595).
        if not healthy:
            raise AllocationError(
                f"no healthy devices present; cannot allocate unhealthy devices {wish.resource}"
            )
        if held is not None and not held <= healthy:
            raise AllocationError(
                "previously allocated devices are no longer healthy; "
                f"cannot allocate unhealthy devices {wish.resource}"
            )
        return held is None and wish.count > 0

    def _choose(self) -> None:
        wish = self._wish
        if self._take(wish.reusable):
            return
        free = self._ledger.available(wish.resource)
        if len(free) < self._missing:
            raise AllocationError(
                f"requested number of devices unavailable for {wish.resource}. "
                f"Requested: {self._missing}, Available: {len(free)}"
            )
        by_id = {each: self._ledger.device(wish.resource, each) for each in free}
        known = self._ledger.devices[wish.resource].values()
        parts = split(by_id, wish.mask if has_topology(known) else None)
        if self._missing < len(parts.aligned):
            # The plugin's preference counts among the aligned devices alone.
            steps = [self._preferred(parts.aligned) & parts.aligned, parts.aligned]
        elif self._take(parts.aligned):
            return
        else:
            steps = [self._preferred(free) & free, parts.unaligned, parts.indifferent]
        if not any(self._take(each) for each in steps):
            raise AllocationError(
                "unexpectedly allocated less resources than required. "
                f"Requested: {wish.count}, Got: {len(self.chosen)}"
            )

    @property
    def _missing(self) -> int:
        return self._wish.count - len(self.chosen)

    def _take(self, devices: Iterable[str]) -> bool:
        """Take some of the devices, and tell whether that is enough."""
        allocated = self._ledger.allocated.setdefault(self._wish.resource, set())
        for device in shuffled(set(devices) - self.chosen, self._rng):
            allocated.add(device)
            self.chosen.add(device)
            if not self._missing:
                return True
        return False

    def _preferred(self, candidates: Iterable[str]) -> set[str]:
        """Return what the plugin would take of the candidates, itself and what is chosen among it.

        Nothing where it has no preference. Names that it made up are for the caller to drop.
        """
        wish = self._wish
        endpoint = self._ledger.endpoints.get(wish.resource)
        if endpoint is None:
            raise AllocationError(
                f"endpoint not found in cache for a registered resource: {wish.resource}"
            )
        if not endpoint.options.get_preferred_allocation_available:
            return set()
        available = shuffled({*candidates, *self.chosen}, self._rng)
        must_include = shuffled(self.chosen, self._rng)
        with self._unlocked():
            try:
                answer = endpoint.preferred(available, must_include, wish.count)
            except PluginError as problem:
                raise AllocationError(
                    f"device plugin GetPreferredAllocation rpc failed with err: {problem}"
                ) from problem
        responses = answer.container_responses
        return set(responses[0].deviceIDs) if responses else set()

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        # A list of devices may come in while the plugin thinks, and be what it waits for.
        self._ledger.lock.release()
        try:
            yield
        finally:
            self._ledger.lock.acquire()


def shuffled(names: Iterable[str], rng: random.Random) -> list[str]:
    """Return the names in an order that depends on the seed alone."""
    ordered = sorted(names)
    rng.shuffle(ordered)
    return ordered
