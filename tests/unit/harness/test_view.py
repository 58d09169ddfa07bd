"""Waits for the cluster to be otherwise."""

from functools import partial

import pytest

from lab.cluster.connection import ApiFailed
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


@pytest.mark.parametrize(
    ("sight", "ended", "advice"),
    [
        (NotYet("nothing"), " within 1.5 s", "see why\n"),
        (Hopeless("nothing"), "; given up after 0 s", "see why\n"),
        (
            Hopeless("nothing", "start it", ("docker ps",)),
            "; given up after 0 s",
            "start it\n         $ docker ps\n",
        ),
    ],
)
@pytest.mark.parametrize("kind", [TimedOut, CleanUpFailed])
def test_what_is_required_and_does_not_come_is_told(
    cluster: Cluster, kind: type[LabError], sight: Sight, ended: str, advice: str
) -> None:
    """With the seconds it was given, what was there instead, and what is known of either."""
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
        f"no pod came{ended}\n"
        "  where: namespace ns\n"
        "  seen:  nothing\n"
        f"  next:  {advice}"
        "         $ kubectl get pods"
    )
    assert cluster.clock.now() == (1.5 if isinstance(sight, NotYet) else 0)


LOST = ApiFailed("the API server cannot be asked")


def lose(cluster: Cluster, lost: ApiFailed | None, watch: str = "nodes") -> None:
    """Let the cluster be lost, or found again, by one of its watches."""
    getattr(cluster, watch).error = lost


@pytest.mark.parametrize("sight", [MET, NotYet("nothing"), Hopeless("nothing")])
@pytest.mark.parametrize("wait", ["until", "throughout"])
@pytest.mark.parametrize(("seconds", "waited"), [(2.0, 15), (20.0, 20)])
def test_a_wait_on_a_lost_cluster_ends_with_the_servers_error(
    cluster: Cluster, wait: str, sight: Sight, seconds: float, waited: float
) -> None:
    """What was seen last, good or bad, says nothing of how it is now."""
    lose(cluster, LOST)
    with pytest.raises(ApiFailed, match="cannot be asked"):
        getattr(cluster.view, wait)(lambda: sight, seconds)
    assert cluster.clock.now() == waited


@pytest.mark.parametrize("watch", ["nodes", "plugins", "pods", "events"])
def test_a_wait_ends_by_whichever_watch_is_lost(cluster: Cluster, watch: str) -> None:
    """Any of them may be the one that the look goes by."""
    lose(cluster, LOST, watch)
    with pytest.raises(ApiFailed, match="cannot be asked"):
        cluster.view.until(lambda: MET, 2)


@pytest.mark.parametrize("wait", ["until", "throughout"])
def test_a_wait_goes_on_when_the_cluster_is_back(cluster: Cluster, wait: str) -> None:
    """As after a restart of the API server, even if its seconds were over by then."""
    lose(cluster, LOST)
    cluster.clock.at(3, partial(lose, cluster, None))
    assert getattr(cluster.view, wait)(lambda: MET, 1.0).is_met
    assert cluster.clock.now() == 3
