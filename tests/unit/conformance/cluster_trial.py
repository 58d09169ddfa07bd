"""A trial in a cluster that is made up, and what comes of it."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Final

from lab.cli.console import PlainProgress
from lab.conformance.check import Result
from lab.conformance.in_cluster.clearing import Clearing
from lab.conformance.in_cluster.examination import results_of
from lab.conformance.in_cluster.trial import ClusterTrial
from lab.core.errors import LabError
from lab.install.backend import Image
from tests.unit.conformance.cluster import NODE, RESOURCE, FakeCluster

IMAGE: Final = Image("my-plugin:1", pulled=True)
SECONDS: Final = 30.0


def trial_in(
    cluster: FakeCluster,
    *,
    resource: str = "",
    restart_kubelet: Callable[[], None] | None = None,
) -> ClusterTrial:
    """Return a trial in a cluster."""
    return ClusterTrial(
        cluster,
        NODE,
        IMAGE,
        (),
        clearing=Clearing(cluster, "a-lab", Path("/lab/kubeconfig")),
        restart_kubelet=restart_kubelet or cluster.restart_kubelet,
        resource=resource,
        seconds=SECONDS,
    )


def found_by(trial: ClusterTrial) -> tuple[dict[str, Result], LabError | None]:
    """Make all checks; return the results by check, and what is to be told after them."""
    with PlainProgress(StringIO()).step("") as step:
        found, problem = results_of(trial, step)
    return {each.rule.id: each for each in found}, problem


def tried(
    cluster: FakeCluster,
    *,
    resource: str = "",
    restart_kubelet: Callable[[], None] | None = None,
) -> dict[str, Result]:
    """Make all checks in a cluster, and return the results by check; nothing is left then."""
    trial = trial_in(cluster, resource=resource, restart_kubelet=restart_kubelet)
    found, problem = found_by(trial)
    assert problem is None, problem
    assert (cluster.found, cluster.is_wanted) == ([], False)
    assert not cluster.allocatable.get(RESOURCE)
    return found
