"""From nothing to devices: what is created for which fleet."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fake_plugin.faults.fault import Fault, Hang
from fake_plugin.plan import Partitions
from lab.cluster.record import LabFolder, Record
from lab.core.catalogue import catalogue
from lab.core.fleet import Fleet, Pool
from lab.core.fleet.model import NodeFault
from lab.install.order import Order
from tests.unit.install.orders import DAEMON_SET, NPU, ORDER, STEPS
from tests.unit.stand_ins.api_server import GPU, FakeApi, node
from tests.unit.stand_ins.engine import FakeEngine

pytestmark = pytest.mark.usefixtures("api")


def test_lab_is_created(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder, said: list[str]
) -> None:
    """All steps, in order, and a record that says that it stands."""
    up(ORDER)
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]
    assert folder.read() == Record("t-lab", "kind", "ready", "node:v1")
    assert said == [
        "backend kind: Docker answers; node image node:v1 (as asked for)",
        *(f"done: {step}" for step in STEPS),
    ]


def test_fleet_is_placed_and_kept(
    up: Callable[[Order], None], api: FakeApi, engine: FakeEngine, folder: LabFolder
) -> None:
    """The image goes to the workers alone, the plugin to the fleet's nodes."""
    up(ORDER)
    assert yaml.safe_load(folder.fleet.read_text())["pools"][0]["nodeNames"] == ["t-lab-worker"]
    assert list(engine.state()["sent"]) == ["t-lab-worker"]
    assert api.nodes["t-lab-worker"]["metadata"]["labels"]["gpu-lab/pool"] == "chapter"
    assert api.patches(DAEMON_SET)


def test_what_the_vendors_plugin_warns_of_is_said(
    up: Callable[[Order], None], api: FakeApi, said: list[str]
) -> None:
    """Else a learner would look for the card that is offered as nothing."""
    api.comes["nvidia.com/gpu"] = "1"
    model = catalogue()["nvidia-h100-sxm-80gb"].accelerator()
    layout = Partitions("mixed", {0: ()})
    up(replace(ORDER, fleet=Fleet((Pool("a", 1, None, 2, accelerator=model, partitions=layout),))))
    card = "card 0 has no MIG devices configured: it is offered as nothing"
    assert f"pool a: partitions.layout: {card}" in said


def test_what_the_fleet_holds_back_is_said_before_the_wait(
    up: Callable[[Order], None], said: list[str]
) -> None:
    """The user would else wait for what never comes."""
    pools = [Pool(name[0], 1, name, 2, node_names=("t-lab-worker",)) for name in (GPU, NPU)]
    hangs = NodeFault(None, Fault("fleet-1", "ListAndWatch", Hang(), NPU))
    up(replace(ORDER, fleet=Fleet((*pools,), faults=(hangs,))))
    assert said[-2:] == [
        f"not waited for: {NPU} on t-lab-worker; rule fleet-1 holds it back (ListAndWatch hangs)",
        f"done: {STEPS[-1]}",
    ]


def test_a_cluster_has_workers_for_fleets_that_are_to_come(
    up: Callable[[Order], None], engine: FakeEngine
) -> None:
    """A kind cluster does not grow later."""
    up(replace(ORDER, workers=2))
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker", "t-lab-worker2"]


def test_larger_fleet_has_larger_cluster(
    up: Callable[[Order], None], api: FakeApi, engine: FakeEngine
) -> None:
    """Workers that the configuration lacks are added."""
    api.add(node("t-lab-worker2"))
    up(replace(ORDER, fleet=Fleet((Pool("a", 2, GPU, 2),))))
    assert engine.names()[1:] == ["t-lab-worker", "t-lab-worker2"]


def test_pools_that_share_a_node_take_one_worker(
    up: Callable[[Order], None], engine: FakeEngine, api: FakeApi
) -> None:
    """A worker is counted once, however many pools name it."""
    api.comes[NPU] = "2"
    pools = [Pool(name[0], 1, name, 2, node_names=("t-lab-worker",)) for name in (GPU, NPU)]
    up(replace(ORDER, fleet=Fleet(tuple(pools))))
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]


def test_users_own_kind_config_is_used(
    up: Callable[[Order], None], engine: FakeEngine, tmp_path: Path, api: FakeApi
) -> None:
    """With its extra worker, which is outside of the fleet."""
    file = tmp_path / "kind.yaml"
    roles = ("control-plane", "worker", "worker")
    nodes = "".join(f"- role: {role}\n" for role in roles)
    file.write_text(f"kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n{nodes}")
    api.add(node("t-lab-worker2"))
    up(replace(ORDER, kind_config=file))
    assert len(engine.names()) == 3
    assert "gpu-lab/pool" not in api.nodes["t-lab-worker2"]["metadata"]["labels"]


def test_cluster_whose_image_is_pulled_for_long_is_waited_for(
    up: Callable[[Order], None], engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that a node has to boot begins when there is a node."""
    monkeypatch.setenv("FAKE_KIND", "slow")
    monkeypatch.setattr("lab.cluster.kind.nodes._BOOT_SECONDS", 0.5)
    up(ORDER)
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]
