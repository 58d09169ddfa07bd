"""A disk that has no room left."""

import os
from collections.abc import Callable

import pytest


@pytest.fixture
def fill_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lets nothing more be written to a disk, to the end of the test."""

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    return lambda: monkeypatch.setattr(os, "fsync", fail)
