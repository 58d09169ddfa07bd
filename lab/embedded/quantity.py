"""How Kubernetes writes whole numbers in the status of a node."""

from typing import Final

_SUFFIXES: Final = ("", "k", "M", "G", "T", "P", "E")
_STEP: Final = 1000


def decimal_si(number: int) -> str:
    """Return the number with the largest suffix that loses no digit: 50000 is "50k".

    The form that the API server gives to quantities of the format DecimalSI (apimachinery,
    pkg/api/resource, Quantity.CanonicalizeBytes).
    """
    power = 0
    while number and number % _STEP == 0 and power < len(_SUFFIXES) - 1:
        number //= _STEP
        power += 1
    return f"{number}{_SUFFIXES[power]}"
