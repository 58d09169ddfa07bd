"""Masks of NUMA nodes, as the topology manager compares them (topologymanager/bitmask)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final

_BITS: Final = 64


class Mask(int):
    """Bit n stands for NUMA node n."""

    @classmethod
    def of(cls, nodes: Iterable[int]) -> "Mask":
        """Return the mask of these nodes; numbers that no mask has room for are left out."""
        return cls(sum({1 << node for node in nodes if 0 <= node < _BITS}))

    def has(self, node: int) -> bool:
        """Tell whether a node is in the mask."""
        return 0 <= node < _BITS and bool(self & (1 << node))

    def has_any(self, nodes: Iterable[int]) -> bool:
        """Tell whether one of the nodes is in the mask."""
        return any(self.has(node) for node in nodes)


def masks(nodes: Sequence[int]) -> Iterator[Mask]:
    """Yield every mask of at least one of the nodes, the narrow ones first."""
    for size in range(1, len(nodes) + 1):
        for chosen in combinations(nodes, size):
            yield Mask.of(chosen)
