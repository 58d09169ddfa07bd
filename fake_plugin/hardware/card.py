"""One accelerator in a node."""

from dataclasses import dataclass

from fake_plugin.hardware.accelerator import Accelerator, Profile


@dataclass(frozen=True, slots=True)
class Card:
    """A physical accelerator, or a plain fake device where `model` is None.

    `uid` is what its vendor calls it by (GPU-<uuid>, a PCI address, Ascend910-<n>, fake-<uuid>):
    unique on the node, and the same over every restart. `index` counts in its pool, `minor` over
    all cards of the vendor on the node (nvidia0, nvidia1, …).
    """

    uid: str
    pool: str
    index: int
    minor: int
    model: Accelerator | None = None
    numa: int | None = None
    #: As `0000:17:00.0`.
    pci: str = ""
    serial: str = ""


@dataclass(frozen=True, slots=True)
class Partition:
    """A part of a card: the `index`-th on it, cut by `profile`; `uid` as the vendor names parts."""

    uid: str
    card: Card
    index: int
    profile: Profile
