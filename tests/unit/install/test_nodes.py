"""Nodes that are restarted from outside, and the wait for what their kubelets say then."""

from unittest.mock import Mock

import pytest

from lab.cluster.access import ABILITIES, NotOffered
from lab.cluster.client import Client
from lab.cluster.record import LabFolder, Record
from lab.core.errors import Interrupted, TimedOut, UsageError
from lab.core.fleet import Fleet, dump_fleet
from lab.install.backend import Backend
from lab.install.nodes import LabNode
from lab.install.site import Site
from lab.install.status import RunningLab
from tests.unit.stand_ins.api_server import FakeApi, node
from tests.unit.stand_ins.node_access import FakeAccess

WORKER = "t-lab-worker"


@pytest.fixture
def access(api: FakeApi) -> FakeAccess:
    """Return the way to the nodes of the API server."""
    return FakeAccess(api)


@pytest.fixture
def lab(site: Site, client: Client, access: FakeAccess) -> RunningLab:
    """Return a lab with the chapter's fleet, on a backend of the tests' own."""
    folder = LabFolder.of(site.folders, "t-lab")
    record = Record("t-lab", "kind", "ready", "node:v1")
    folder.write(record)
    folder.fleet.write_text(dump_fleet(Fleet.default().placed_on((WORKER,))))
    backend = Mock(spec=Backend, access=access)
    return RunningLab(record, folder, client, backend)


@pytest.fixture
def worker(lab: RunningLab) -> LabNode:
    """Return the worker."""
    return LabNode.named(lab, "chapter-0")


@pytest.mark.parametrize("name", ["chapter-0", WORKER])
def test_a_node_goes_by_both_names(lab: RunningLab, name: str) -> None:
    """The fleet's and the cluster's."""
    assert LabNode.named(lab, name).title == f"chapter-0 ({WORKER})"


def test_a_node_outside_of_the_fleet_has_one_name(lab: RunningLab) -> None:
    """The control plane can be restarted too."""
    assert LabNode.named(lab, "t-lab-control-plane").title == "t-lab-control-plane"


def test_a_name_that_is_none_is_refused_with_those_that_are(lab: RunningLab) -> None:
    """The fleet's first."""
    with pytest.raises(UsageError, match="the lab has no node 'worker'") as raised:
        LabNode.named(lab, "worker")
    assert raised.value.seen == f"nodes that it has: chapter-0, t-lab-control-plane, {WORKER}"


def test_a_kubelet_is_silent_before_its_next_word_is_waited_for(
    worker: LabNode, access: FakeAccess
) -> None:
    """What the old one said while it was told to end does not count."""
    worker.restart_kubelet()
    assert access.done == [f"stop_kubelet {WORKER}", f"start_kubelet {WORKER}"]


def test_a_kubelet_that_cannot_be_stopped_is_restarted_in_one(
    worker: LabNode, access: FakeAccess
) -> None:
    """Where a backend has no way to start what is stopped."""
    access.can -= {"stop_kubelet", "start_kubelet"}
    worker.restart_kubelet()
    assert access.done == [f"restart_kubelet {WORKER}"]


def test_a_node_is_restarted_with_its_kubelet_stopped(worker: LabNode, access: FakeAccess) -> None:
    """For the same reason."""
    worker.restart()
    assert access.done == [f"stop_kubelet {WORKER}", f"restart {WORKER}"]


def test_a_restart_that_is_not_offered_stops_nothing(worker: LabNode, access: FakeAccess) -> None:
    """It is refused, and the node is as it was."""
    access.can -= {"restart"}
    with pytest.raises(NotOffered):
        worker.restart()
    assert access.done == []


@pytest.mark.parametrize("stopped", [False, True])
def test_start_says_whether_the_kubelet_was_stopped(worker: LabNode, *, stopped: bool) -> None:
    """One that runs has nothing new to say, and is not waited for."""
    if stopped:
        worker.stop_kubelet()
    assert worker.start_kubelet() == stopped


def test_an_interrupted_stop_is_undone(worker: LabNode, access: FakeAccess) -> None:
    """Whoever presses Ctrl-C in a restart does not want a node without a kubelet."""
    access.interrupts = True
    with pytest.raises(Interrupted):
        worker.restart_kubelet()
    assert access.stopped == set()


@pytest.mark.parametrize(
    ("ready", "mute"),
    [pytest.param(True, True, id="no word"), pytest.param(False, False, id="not ready")],
)
def test_a_node_that_does_not_come_back_is_told(
    worker: LabNode, api: FakeApi, access: FakeAccess, *, ready: bool, mute: bool
) -> None:
    """With what was seen last, and how to start its kubelet."""
    access.mute = True
    if not mute:
        access.can -= set(ABILITIES) - {"restart"}
    api.add(node(WORKER, ready=ready))
    with pytest.raises(TimedOut) as raised:
        worker.restart_kubelet(0.2) if mute else worker.restart(0.2)
    error = raised.value
    assert error.what == "the node was not Ready again within 0.2 s"
    assert error.seen == f"Ready: {ready}; its kubelet reported last: 10:00:00 UTC"
    assert error.commands[1] == f"gpulab node start-kubelet {WORKER} --name t-lab"
