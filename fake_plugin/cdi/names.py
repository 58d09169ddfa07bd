"""Names in CDI: `nvidia.com/gpu=GPU-1` is the vendor, the class and the device.

The rules are those of the Go library (pkg/parser/parser.go, pkg/cdi/annotations.go), with one
exception: release 1.1.0 of it crashes on a vendor or a class of one character, so two are needed.
"""

import re
from collections.abc import Sequence
from typing import Final

ANNOTATION_PREFIX: Final = "cdi.k8s.io/"

_VENDOR_OR_CLASS: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]")
_DEVICE: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?")
_ALLOCATION: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_ALLOCATION_LIMIT: Final = 63


class WrongName(ValueError):
    """A name that no container runtime would take; the text holds the name and the rule."""


def broken_kind_rule(kind: str) -> str | None:
    """Return the rule that `vendor/class` breaks, as a sentence, or None where it is valid."""
    vendor, slash, class_ = kind.partition("/")
    if not slash:
        return "must be a vendor and a class with a slash between, as nvidia.com/gpu"
    for part, name in (("vendor", vendor), ("class", class_)):
        if not _VENDOR_OR_CLASS.fullmatch(name):
            return (
                f"must have a {part} of two characters or more: letters, digits, '_', '-' or "
                "'.', with a letter first and a letter or digit last"
            )
    return None


def broken_device_rule(name: str) -> str | None:
    """Return the rule that the name of a device breaks, or None where it is valid."""
    if not _DEVICE.fullmatch(name):
        return (
            "must have letters, digits, '_', '-', '.' or ':', with a letter or digit at both ends"
        )
    return None


def qualified_name(vendor: str, class_: str, device: str) -> str:
    """Return the name that a runtime is asked for; raises `WrongName`."""
    kind = f"{vendor}/{class_}"
    for name, rule in ((kind, broken_kind_rule(kind)), (device, broken_device_rule(device))):
        if rule:
            raise WrongName(f"the CDI name {name!r}: {rule}")
    return f"{kind}={device}"


def annotations(plugin: str, allocation: str, names: Sequence[str]) -> dict[str, str]:
    """Return the annotation that asks a runtime for the devices of one allocation.

    `plugin` has the form vendor.device-type. `allocation` tells the allocations of one container
    apart; a slash in it becomes "_". `names` are qualified. Raises `WrongName`.
    """
    key = f"{plugin}_{allocation.replace('/', '_')}"
    if not plugin or not allocation or not _ALLOCATION.fullmatch(key):
        raise WrongName(
            f"the CDI annotation {key!r}: must be a plugin and an ID of letters, digits, '_', '-' "
            "or '.', with a letter or digit at both ends"
        )
    if len(key) > _ALLOCATION_LIMIT:
        raise WrongName(
            f"the CDI annotation {key!r}: has {len(key)} characters, at most {_ALLOCATION_LIMIT}"
        )
    if not names:
        raise WrongName(f"the CDI annotation {key!r}: must name a device")
    return {ANNOTATION_PREFIX + key: ",".join(_checked(name) for name in names)}


def _checked(name: str) -> str:
    kind, equals, device = name.partition("=")
    if not equals:
        raise WrongName(f"the CDI name {name!r}: must be a kind and a device, as nvidia.com/gpu=0")
    vendor, _, class_ = kind.partition("/")
    return qualified_name(vendor, class_, device)
