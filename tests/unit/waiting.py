"""The tests' only wait."""

import time
from collections.abc import Callable


def wait_until(what: str, holds: Callable[[], bool], seconds: float = 10.0) -> None:
    """Return as soon as `holds`; fail with `what` after the seconds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:g} s in vain: {what}")
        time.sleep(0.005)
