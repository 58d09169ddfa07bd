"""What a process may at most become able to do, as the kernel writes it in /proc/PID/status."""

import re
from typing import Final

#: Number of CAP_SYS_RESOURCE in capability masks: linux/capability.h.
SYS_RESOURCE: Final = 24
_BOUNDING: Final = re.compile(r"^CapBnd:\s+([0-9a-f]+)", re.MULTILINE)


def within_reach(capability: int, status: str) -> bool | None:
    """Return whether the bounding set has a capability; None where the text does not say.

    The bounding set and not the effective one: it is what an engine started beside the process
    has, whoever the user is.
    """
    found = _BOUNDING.search(status)
    return bool(int(found[1], 16) >> capability & 1) if found else None
