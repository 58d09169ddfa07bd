"""Where the devices of a container should be: the topology manager, with devices its only concern.

The policies and the merging of hints (topologymanager/policy*.go), for the scope `container`,
without policy options. The CPU and memory managers, which would give hints as well, are not
imitated: by default they give none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from itertools import product

from lab.embedded.kubelet.numa import Mask

#: For each resource: None for no preference, no hints for no way to place the devices.
Hints = Mapping[str, "Sequence[Hint] | None"]


class Policy(Enum):
    """The kubelet's topologyManagerPolicy."""

    NONE = "none"
    BEST_EFFORT = "best-effort"
    RESTRICTED = "restricted"
    SINGLE_NUMA_NODE = "single-numa-node"


@dataclass(frozen=True)
class Hint:
    """NUMA nodes that could do, None for any, and whether the narrowest possible."""

    mask: Mask | None
    preferred: bool


def merge(policy: Policy, machine: Sequence[int], hints: Hints) -> tuple[Hint, bool]:
    """Return the hint that is best for all resources, and whether the policy admits the pod."""
    everywhere = Mask.of(machine)
    choices = list(_choices(hints))
    if policy is Policy.SINGLE_NUMA_NODE:
        choices = [[hint for hint in each if _is_single(hint)] for each in choices]
    best = _best(everywhere, choices)
    if policy is Policy.SINGLE_NUMA_NODE and best.mask == everywhere:
        best = Hint(None, best.preferred)
    return best, best.preferred or policy is Policy.BEST_EFFORT


def _choices(hints: Hints) -> Iterator[list[Hint]]:
    if not hints:
        yield [Hint(None, preferred=True)]
    for each in hints.values():
        if each is None:
            yield [Hint(None, preferred=True)]
        else:
            yield list(each) or [Hint(None, preferred=False)]


def _is_single(hint: Hint) -> bool:
    return hint.preferred and (hint.mask is None or hint.mask.bit_count() == 1)


def _best(everywhere: Mask, choices: list[list[Hint]]) -> Hint:
    merged = (_merge_one(everywhere, each) for each in product(*choices))
    possible = [hint for hint in merged if hint.mask]
    if not possible:
        return Hint(everywhere, preferred=False)
    widest = _widest_of_the_narrowest(choices)
    return reduce(lambda best, next_: _better(best, next_, widest), possible)


def _merge_one(everywhere: Mask, hints: Iterable[Hint]) -> Hint:
    hints = list(hints)
    wanted = [hint.mask for hint in hints if hint.mask is not None]
    mask = Mask(reduce(lambda one, other: one & other, wanted, int(everywhere)))
    return Hint(mask, all(hint.preferred for hint in hints) and len(set(wanted)) <= 1)


def _widest_of_the_narrowest(choices: list[list[Hint]]) -> int:
    """Return how many nodes that resource needs which needs the most."""
    sizes = ([hint.mask.bit_count() for hint in each if hint.mask is not None] for each in choices)
    return max((min(each) for each in sizes if each), default=0)


def _better(best: Hint, other: Hint, target: int) -> Hint:
    """Return the better of two hints that both have nodes.

    The preferred one; of two, the narrower. Of two that are not preferred, the one whose number of
    nodes is nearer to the target from below, but rather too many than a narrower one of too many.
    """
    if best.preferred != other.preferred:
        return best if best.preferred else other
    size, other_size = _span(best)[0], _span(other)[0]
    if best.preferred or size > target or size == other_size:
        return min(best, other, key=_span)
    return other if size < other_size <= target else best


def _span(hint: Hint) -> tuple[int, int]:
    """Return the number of nodes, and their mask as a number: less is narrower."""
    mask = hint.mask or Mask()
    return mask.bit_count(), int(mask)
