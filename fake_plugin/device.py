"""One device of a node."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Device:
    """`id` is unique on the node and the same over every restart; `index` counts in its pool."""

    id: str
    index: int
