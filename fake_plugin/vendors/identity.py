"""Names of hardware that are the same in every run: made of where it is, and never drawn."""

import uuid
from collections.abc import Sequence
from typing import Final

#: A fixed starting point makes the names the same on every machine, for ever.
_NAMESPACE: Final = uuid.UUID("5e6a3cde-6f0b-4a0e-9d0f-0c1f6b7f4d52")
_SERIAL_DIGITS: Final = 12
_BUSES: Final = 256
_SLOTS: Final = 32


def of_card(node: str, pool: str, index: int) -> uuid.UUID:
    """Return the identity of a pool's `index`-th card on a node.

    None of the names can hold a slash, so no two cards have one identity.
    """
    return uuid.uuid5(_NAMESPACE, f"{node}/{pool}/{index}")


def of_part(card: str, profile: str, index: int) -> uuid.UUID:
    """Return the identity of a card's `index`-th part; cut in another way, it is another part."""
    return uuid.uuid5(_NAMESPACE, f"{card}/{profile}/{index}")


def serial_number(identity: uuid.UUID) -> str:
    """Return thirteen digits, as NVIDIA and AMD number their boards."""
    return f"1{identity.int % 10**_SERIAL_DIGITS:0{_SERIAL_DIGITS}}"


def pci_address(usual: Sequence[int], domain: int, minor: int) -> str:
    """Return the address of a vendor's `minor`-th card, as `0000:1b:00.0`.

    The first have the buses that such cards are seen on in real machines. What no machine holds
    is put into domains that begin with `domain`, which every vendor has for itself, as it must
    have `usual`.
    """
    if minor < len(usual):
        return f"0000:{usual[minor]:02x}:00.0"
    above, slot = divmod(minor - len(usual), _SLOTS)
    further, bus = divmod(above, _BUSES)
    return f"{domain + further:04x}:{bus:02x}:{slot:02x}.0"
