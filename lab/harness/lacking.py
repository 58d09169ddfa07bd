"""What a lab cannot do that a test needs: reason to skip the test, and not to fail it."""

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.install.status import RunningLab


def lacking(running: "RunningLab", needs: AbstractSet[str]) -> str:
    """Return what is needed and cannot be done on a lab's nodes, in words; "" for nothing."""
    missing = sorted(needs - running.access.can)
    backend = running.record.backend
    return f"the backend {backend} cannot {', '.join(missing)} here" if missing else ""
