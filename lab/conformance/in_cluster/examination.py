"""All checks on the plugin of an image, on one node of a lab."""

from collections.abc import Sequence
from contextlib import suppress

from lab.conformance.check import Result
from lab.conformance.examination import NotWell, refuse, results
from lab.conformance.in_cluster.checks import IN_CLUSTER
from lab.conformance.in_cluster.clearing import Clearing
from lab.conformance.in_cluster.image import provide
from lab.conformance.in_cluster.trial import ClusterTrial
from lab.conformance.report import Report
from lab.core.errors import CleanUpFailed, LabError
from lab.core.progress import Step
from lab.install.lock import alone_at
from lab.install.nodes import LabNode
from lab.install.seats import seats
from lab.install.site import Site
from lab.install.status import running_lab


def examine_image(  # noqa: PLR0913 - each is an option of the command
    image: str,
    command: Sequence[str],
    *,
    name: str,
    resource: str,
    seconds: float,
    site: Site,
) -> Report:
    """Make all checks on the first node of the lab's fleet, and take the plugin away again.

    Raises `NotReady` where there is no such lab, or another command is at work on it, and
    `UsageError` where the node has the resource already.
    """
    with alone_at(site, name):
        lab = running_lab(site, name)
        node = LabNode.named(lab, seats(lab)[0].node)
        given = provide(lab.record.backend, node.name, image, site)
        trial = ClusterTrial(
            lab.client,
            node.name,
            given,
            command,
            clearing=Clearing(lab.client, name, lab.folder.kubeconfig),
            restart_kubelet=node.restart_kubelet,
            resource=resource,
            seconds=seconds,
        )
        with suppress(NotWell), site.progress.step(f"Try the plugin on {node.title}") as step:
            found, problem = results_of(trial, step)
            refuse(found, problem)
    resources = (trial.resource,) if trial.count else ()
    return Report(tuple(command), trial.resource, resources, found, image, problem)


def results_of(trial: ClusterTrial, step: Step) -> tuple[tuple[Result, ...], LabError | None]:
    """Make all checks, and remove the plugin; return why the rest is undecided, or what stays.

    Raises what ended it before there was a result, or `CleanUpFailed` where something stays then.
    """
    try:
        found, problem = results(trial, IN_CLUSTER, step)
    except BaseException:
        trial.close()
        raise
    try:
        trial.close()
    except CleanUpFailed as left:
        return found, left
    return found, problem
