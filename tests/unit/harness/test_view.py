"""Waits for the cluster to be otherwise."""

import pytest

from lab.core.errors import CleanUpFailed, LabError, TimedOut
from lab.harness.sight import MET, Hopeless, NotYet, Sight
from tests.unit.harness.cluster import Cluster


def test_what_is_required_is_waited_for(cluster: Cluster) -> None:
    """Until it is so, and no longer."""
    cluster.clock.at(2, cluster.pod)

    def look() -> Sight:
        return MET if cluster.view.pods.all() else NotYet("there is no pod")

    cluster.view.require(look, 9, "no pod came", where="ns", remedy="see")
    assert cluster.clock.now() == 2


@pytest.mark.parametrize(("sight", "waited"), [(NotYet("nothing"), 1.5), (Hopeless("nothing"), 0)])
@pytest.mark.parametrize("kind", [TimedOut, CleanUpFailed])
def test_what_is_required_and_does_not_come_is_told(
    cluster: Cluster, kind: type[LabError], sight: Sight, waited: float
) -> None:
    """With the seconds it was given, what was there instead, and what the caller knows of it."""
    with pytest.raises(kind) as raised:
        cluster.view.require(
            lambda: sight,
            1.5,
            "no pod came",
            where="namespace ns",
            remedy="see why",
            commands=("kubectl get pods",),
            error=kind,
        )
    assert str(raised.value) == (
        "no pod came within 1.5 s\n"
        "  where: namespace ns\n"
        "  seen:  nothing\n"
        "  next:  see why\n"
        "         $ kubectl get pods"
    )
    assert cluster.clock.now() == waited
