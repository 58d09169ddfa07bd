"""What is shown of a wait while it lasts."""

import pytest

from lab.harness.expectations.expecting import Expecting
from lab.harness.sight import MET, NotYet, Sight
from tests.unit.harness.cluster import Cluster


@pytest.fixture
def told(cluster: Cluster) -> list[str]:
    """Return what is told of waits on the cluster."""
    found: list[str] = []
    cluster.view.waiting.told = found.append
    return found


def test_what_is_awaited_is_told_with_what_is_there(cluster: Cluster, told: list[str]) -> None:
    """In one line, and cleared at the end."""
    sights: list[Sight] = [NotYet("Pending:\n  no node"), MET]
    Expecting(cluster.view, "pod p", tuple, ()).until("runs", lambda: sights.pop(0), 5)
    assert told == ["pod p: runs", "pod p: runs; so far: Pending: no node", ""]


def test_what_has_to_last_is_told_with_its_time(cluster: Cluster, told: list[str]) -> None:
    """As long as it is so there is nothing else to tell."""
    Expecting(cluster.view, "pod p", tuple, ()).throughout("stays", lambda: MET, 2)
    assert told == ["pod p: stays, for 2 s", ""]


def test_a_wait_of_the_harness_itself_tells_what_it_sees(cluster: Cluster, told: list[str]) -> None:
    """Such as the one for a lab that is to be as it was."""
    cluster.view.until(lambda: NotYet("w: not ready"), 0.1)
    assert told[:1] == ["w: not ready"]
