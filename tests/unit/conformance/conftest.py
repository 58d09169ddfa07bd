"""Trials in a cluster take no time."""

import pytest

from lab.conformance.in_cluster import checks
from lab.conformance.in_cluster import cluster as waiting
from tests.unit.conformance.cluster import FakeTime


@pytest.fixture(autouse=True)
def time(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    """Let nobody wait in earnest; return how long they did."""
    time = FakeTime()
    for module in (waiting, checks):
        monkeypatch.setattr(module, "time", time)
    return time
