"""The namespace in which a test works, and which goes with it.

One that is still there when the next test begins is that of a test which did not see its end: it
was killed, or was to be left for somebody to look at. Its pods hold devices, and what it broke is
broken; that may be so without a namespace, too, where undoing it has failed. A file in the lab's
folder tells of both.
"""

import logging
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from lab.cluster.connection import ApiFailed
from lab.cluster.objects import Pod
from lab.core.clock import Clock, SystemClock
from lab.core.errors import CleanUpFailed
from lab.core.fleet import Fleet
from lab.harness.lab import Lab
from lab.harness.sight import MET, Hopeless, NotYet, Sight
from lab.harness.view import View, viewing
from lab.host.processes import pasteable
from lab.install.status import RunningLab

_LOG: Final = logging.getLogger("gpu_lab")
#: Namespaces with this label are the harness's own; its value is the lab's name.
LABEL: Final = "gpu-lab/test"
#: A pod of a test has so many seconds to end.
_GRACE_SECONDS: Final = 1
_GONE_SECONDS: Final = 90
_ACCOUNT_SECONDS: Final = 30
_MOST_LETTERS: Final = 40
#: Where nodes are looked at, which are in none.
_ANY: Final = "default"

Manifest = dict[str, Any]


def name_for(test: str) -> str:
    """Return a namespace's name that tells the test, and is nobody else's."""
    plain = re.sub(r"[^a-z0-9]+", "-", test.lower())[-_MOST_LETTERS:].strip("-")
    return f"{plain or 'test'}-{secrets.token_hex(3)}"


@contextmanager
def opened(running: RunningLab, namespace: str, clock: Clock | None = None) -> Iterator[Lab]:
    """Work on a running lab in a namespace that is there inside the block only.

    Its pods have gone when the block has ended, and with them what they held, unless the lab is to
    be left as it is. What earlier tests have left goes first. Raises `CheckFailed` for a lab
    without a fleet, `ApiFailed` where there can be no namespace.
    """
    fleet = running.deployed_fleet()
    clock = clock or SystemClock()
    left, mark = _left(running), running.folder.under_test
    if left or mark.exists():
        _put_right(running, fleet, left, clock)
    running.folder.write_text(mark, namespace)
    running.client.create(_manifest(running, namespace))
    with viewing(running.client.connection, namespace, clock) as view:
        lab = Lab(running, fleet, namespace, view)
        try:
            _require_service_account(running, namespace, view)
            yield lab
        finally:
            if not lab.afterwards.left:
                _remove(running, namespace, view)
                if not lab.afterwards.has_failed:
                    mark.unlink(missing_ok=True)


def _left(running: RunningLab) -> list[str]:
    """Return the namespaces of tests that did not remove their own."""
    query = (("labelSelector", f"{LABEL}={running.record.name}"),)
    found = running.client.connection.get("/api/v1/namespaces", query)["items"]
    there = [each["metadata"] for each in found]
    return [each["name"] for each in there if "deletionTimestamp" not in each]


def _put_right(running: RunningLab, fleet: Fleet, left: Sequence[str], clock: Clock) -> None:
    """Do what a test has not done: put the nodes right, then let its pods go."""
    _LOG.warning("a test has not put the lab right: doing it now; left: %s", ", ".join(left))
    connection = running.client.connection
    with viewing(connection, _ANY, clock) as view:
        # A kubelet that does not run ends no pods.
        for node in Lab(running, fleet, _ANY, view).nodes():
            node.put_right()
    for namespace in left:
        with viewing(connection, namespace, clock) as view:
            _remove(running, namespace, view)


def _remove(running: RunningLab, namespace: str, view: View) -> None:
    running.client.delete(_manifest(running, namespace))
    _wait_until_empty(running, namespace, view)


def _manifest(running: RunningLab, namespace: str) -> Manifest:
    meta = {"name": namespace, "labels": {LABEL: running.record.name}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def _require_service_account(running: RunningLab, namespace: str, view: View) -> None:
    """Wait for the account without which the API server lets no pod in."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"

    def look() -> Sight:
        try:
            running.client.connection.get(path)
        except ApiFailed as error:
            if error.is_missing:
                return NotYet("it has no service account `default` yet")
            raise
        return MET

    view.require(
        look,
        _ACCOUNT_SECONDS,
        "the namespace was not usable",
        where=namespace,
        remedy="see whether the cluster's controller manager runs",
    )


def _wait_until_empty(running: RunningLab, namespace: str, view: View) -> None:
    """End the pods of a namespace that is being deleted, and wait until they hold nothing."""
    pods = f"/api/v1/namespaces/{namespace}/pods"
    running.client.connection.send("DELETE", pods, body={"gracePeriodSeconds": _GRACE_SECONDS})

    def look() -> Sight:
        left = view.pods.all()
        # Only its kubelet lets a pod go.
        lost = [node.name for node in view.nodes.all() if node.lost]
        seen = ", ".join(_told(pod, lost) for pod in left)
        if left and all(pod.node in lost for pod in left):
            advice = running.client.connection.advice
            return Hopeless(f"still there: {seen}", *advice.of_silent_node(left[0].node))
        return NotYet(f"still there: {seen}") if left else MET

    kubectl = ("kubectl", "--kubeconfig", str(running.folder.kubeconfig))
    view.require(
        look,
        _GONE_SECONDS,
        "pods of a test did not go",
        where=namespace,
        remedy="see what holds them",
        commands=(pasteable((*kubectl, "describe", "pods", "--namespace", namespace)),),
        error=CleanUpFailed,
    )


def _told(pod: Pod, lost: Collection[str]) -> str:
    is_lost = pod.node in lost
    return f"{pod.name} on {pod.node}, whose kubelet does not report" if is_lost else pod.name
