"""What `up` does with what it finds: halves of labs, and what is not its own."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.cluster.client import Client
from lab.cluster.record import LabFolder, Record, RecordDamaged
from lab.core.errors import NotReady, UsageError
from lab.core.fleet import Fleet, Pool
from lab.install.order import Order
from lab.install.rivals import refuse_rivals
from tests.unit.install.orders import DAEMON_SET, ORDER
from tests.unit.stand_ins.api_server import GPU, FakeApi, node
from tests.unit.stand_ins.engine import FakeEngine

pytestmark = pytest.mark.usefixtures("api")


@pytest.mark.parametrize("phase", ["creating", None])
def test_unfinished_start_is_removed_first(
    up: Callable[[Order], None],
    engine: FakeEngine,
    folder: LabFolder,
    said: list[str],
    phase: str | None,
) -> None:
    """A crash left half a cluster, with its record or with nothing but the mark on its nodes."""
    engine.set(containers=engine.nodes("control-plane"))
    if phase:
        folder.write(Record("t-lab", "kind", "creating", "node:v1"))
    up(ORDER)
    assert said[0] == "removing what an unfinished start left behind"
    assert engine.calls("rm") == ["rm -f -v t-lab-control-plane"]
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]


def test_record_without_its_cluster_is_removed_first(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """Someone has pruned the engine's containers."""
    folder.write(Record("t-lab", "kind", "ready", "node:v0"))
    up(ORDER)
    assert folder.read() == Record("t-lab", "kind", "ready", "node:v1")
    assert engine.calls("rm") == []


def test_damaged_record_is_not_guessed_at(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """The cluster may be well: the user decides."""
    engine.set(containers=engine.nodes())
    folder.path.mkdir(parents=True)
    (folder.path / "lab.json").write_text("{")
    with pytest.raises(RecordDamaged):
        up(ORDER)
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]


def test_cluster_of_others_is_not_adopted(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """Nothing is changed, and no file is written."""
    engine.set(containers=[engine.node("t-lab-control-plane", mark="")])
    with pytest.raises(NotReady, match="that this gpu-lab did not make"):
        up(ORDER)
    assert (engine.names(), folder.path.exists()) == (["t-lab-control-plane"], False)


def test_node_with_another_plugin_is_refused(
    up: Callable[[Order], None], api: FakeApi, folder: LabFolder
) -> None:
    """Whoever registers last would have the resource: real devices would look fake."""
    api.add(node("t-lab-worker", devices=8))
    with pytest.raises(UsageError) as caught:
        up(ORDER)
    error = caught.value
    assert error.what == f"another plugin serves {GPU} on a node of the fleet"
    assert (error.where, error.seen) == (
        "t-lab-worker",
        f"{GPU}: 8 allocatable, and the lab has not put it there",
    )
    assert error.commands[0].endswith("--field-selector spec.nodeName=t-lab-worker")
    assert not api.patches(DAEMON_SET)
    assert not folder.fleet.exists()


def test_pods_of_a_rival_are_shown_though_a_path_has_a_blank(client: Client) -> None:
    """The command is one to paste."""
    fleet = Fleet((Pool("gpus", 1, GPU, 2),)).placed_on(("t-lab-worker",))
    rival = replace(client.nodes()[1], allocatable={GPU: 8})
    with pytest.raises(UsageError) as caught:
        refuse_rivals([rival], fleet, None, Path("/my lab/kubeconfig"))
    (command,) = caught.value.commands
    assert command == (
        "kubectl --kubeconfig '/my lab/kubeconfig' get pods -A "
        "--field-selector spec.nodeName=t-lab-worker"
    )


def test_what_is_left_of_a_plugin_is_no_rival(up: Callable[[Order], None], api: FakeApi) -> None:
    """The kubelet keeps the key of a resource whose plugin has gone, at 0."""
    api.nodes["t-lab-worker"]["status"]["allocatable"][GPU] = "0"
    up(ORDER)
    assert api.patches(DAEMON_SET)
