"""What is left of an `up` that is refused, fails or is interrupted."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from lab.cluster.client import Client
from lab.cluster.objects import Node
from lab.cluster.record import LabFolder, Record
from lab.core.errors import Interrupted, NotReady, TimedOut, UsageError
from lab.core.fleet import Fleet, Pool
from lab.host.processes import ProcessFailed
from lab.install import placing
from lab.install.order import Order
from lab.install.site import Site
from lab.install.up import bring_up
from tests.unit.install.interrupting import Interrupting
from tests.unit.install.orders import ORDER, STEPS
from tests.unit.stand_ins.api_server import GPU, FakeApi
from tests.unit.stand_ins.engine import FakeEngine

pytestmark = pytest.mark.usefixtures("api")


def with_nodes(*names: str) -> Order:
    """Return an order for a fleet that names its nodes."""
    return replace(ORDER, fleet=Fleet((Pool("a", len(names), GPU, 2, node_names=names),)))


def test_fleet_on_nodes_that_will_not_be_is_refused_at_once(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """Nothing was created for it."""
    with pytest.raises(UsageError, match="names nodes that the cluster does not have"):
        up(with_nodes("t-lab-worker7"))
    assert (engine.names(), folder.path.exists()) == ([], False)


@pytest.mark.parametrize("step", STEPS)
def test_interrupted_up_leaves_nothing(
    engine: FakeEngine, folder: LabFolder, site: Site, step: str
) -> None:
    """Whatever it was doing."""
    with pytest.raises(Interrupted):
        bring_up(ORDER, replace(site, progress=Interrupting(site.progress, step)))
    assert (engine.names(), folder.path.exists()) == ([], False)
    assert list((site.folders.cache / "locks").iterdir()) == []


@pytest.mark.parametrize("step", STEPS[1:])
def test_interrupted_up_leaves_the_lab_that_was_there(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder, site: Site, step: str
) -> None:
    """It did not create it."""
    up(ORDER)
    with pytest.raises(Interrupted):
        bring_up(ORDER, replace(site, progress=Interrupting(site.progress, step)))
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]
    assert folder.read()


def test_creation_that_fails_leaves_nothing(
    up: Callable[[Order], None],
    engine: FakeEngine,
    folder: LabFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the node that kind had made, nor a file."""
    monkeypatch.setenv("FAKE_KIND", "fails")
    with pytest.raises(ProcessFailed, match="kind could not create the cluster"):
        up(ORDER)
    assert (engine.names(), folder.path.exists()) == ([], False)


def test_image_that_cannot_be_built_leaves_nothing(
    up: Callable[[Order], None],
    engine: FakeEngine,
    folder: LabFolder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is built beside the cluster, whose creation then ends at once: the error is not late."""
    monkeypatch.setenv("FAKE_KIND", "hangs")

    def full(*_: object) -> None:
        raise NotReady("the disk is full")

    monkeypatch.setattr("lab.install.kind.creation.build_plugin_image", full)
    with pytest.raises(NotReady, match="the disk is full"):
        up(ORDER)
    assert (engine.names(), folder.path.exists()) == ([], False)


def test_devices_that_do_not_come_leave_the_cluster_to_look_at(
    up: Callable[[Order], None], api: FakeApi, engine: FakeEngine, folder: LabFolder
) -> None:
    """The remedy says so, and the lab can be asked."""
    api.comes = {}
    with pytest.raises(TimedOut, match="did not become allocatable"):
        up(replace(ORDER, timeout=0.1))
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]
    assert folder.read() == Record("t-lab", "kind", "ready", "node:v1")


def test_without_an_engine_nothing_begins(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """The engine's own words are in the error."""
    engine.set(away="Cannot connect to the Docker daemon at unix:///var/run/docker.sock")
    with pytest.raises(NotReady) as raised:
        up(ORDER)
    assert raised.value.what == "no Docker engine answers"
    assert "Cannot connect to the Docker daemon" in raised.value.seen
    assert not folder.path.exists()


def test_a_node_that_registers_late_is_waited_for(
    up: Callable[[Order], None], api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A join of kubeadm ends before its kubelet is known to the API server."""
    worker = api.nodes.pop("t-lab-worker")
    looked = Client.node_changes

    def later(client: Client, timeout: float) -> Iterator[tuple[Node, ...]]:
        for nodes in looked(client, timeout):
            yield nodes
            api.add(worker)

    monkeypatch.setattr(Client, "node_changes", later)
    up(ORDER)
    assert api.nodes["t-lab-worker"]["metadata"]["labels"]["gpu-lab/device-plugin"] == "true"


def test_a_node_that_does_not_register_is_told(
    up: Callable[[Order], None], api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With those that have."""
    monkeypatch.setattr(placing, "_NODES_SECONDS", 0)
    del api.nodes["t-lab-worker"]
    with pytest.raises(TimedOut) as raised:
        up(ORDER)
    assert raised.value.what == "nodes of the fleet did not register within 0 s"
    assert raised.value.where == "t-lab-worker"
    assert raised.value.seen == "nodes that the API server knows: t-lab-control-plane"
