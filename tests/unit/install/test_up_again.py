"""`up` on a lab that is there: it is brought up to date."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace

import pytest

from lab.cluster.record import LabFolder
from lab.core.errors import TimedOut
from lab.core.fleet import Fleet, Pool
from lab.install.backend import NoPlace
from lab.install.kind import standing
from lab.install.order import Order
from tests.unit.install.orders import ORDER, STEPS
from tests.unit.stand_ins.api_server import GPU, FakeApi, node
from tests.unit.stand_ins.engine import FakeEngine

pytestmark = pytest.mark.usefixtures("api")


def test_second_up_brings_up_to_date(
    up: Callable[[Order], None], engine: FakeEngine, api: FakeApi, said: list[str]
) -> None:
    """The cluster stays, the fleet is the new one, and the earlier one's taint is gone."""
    up(replace(ORDER, fleet=Fleet((Pool("a", 1, GPU, 2, taint=True),))))
    before, api.comes = engine.state()["containers"], {GPU: "3"}
    said.clear()
    up(replace(ORDER, fleet=Fleet((Pool("b", 1, GPU, 3),))))
    assert engine.state()["containers"] == before
    worker = api.nodes["t-lab-worker"]
    assert worker["metadata"]["labels"]["gpu-lab/pool"] == "b"
    assert worker["spec"]["taints"] == []
    there = "backend kind: the lab 't-lab' is there"
    assert said == [there, *(f"done: {step}" for step in STEPS[1:])]


def test_token_is_the_same_after_a_second_up(
    up: Callable[[Order], None], api: FakeApi, folder: LabFolder
) -> None:
    """It is in the lab's folder, and in a Secret for the plugins."""
    up(ORDER)
    up(ORDER)
    secrets = api.patches("/api/v1/namespaces/kube-system/secrets/gpu-lab-control")
    sent = [b64decode(each.body["data"]["token"]).decode() for each in secrets]
    assert sent == [folder.known_token()] * 2
    assert sent[0]


def test_fleet_that_the_standing_lab_is_too_small_for_is_refused(
    up: Callable[[Order], None], folder: LabFolder
) -> None:
    """A kind cluster does not grow; the lab that is there stays."""
    up(ORDER)
    with pytest.raises(NoPlace) as raised:
        up(replace(ORDER, fleet=Fleet((Pool("b", 3, GPU, 3),))))
    assert raised.value.what == "the fleet needs 3 workers, and the lab that is there has 1"
    assert raised.value.remedy.startswith("remove the lab, then create it with this fleet")
    assert raised.value.commands == ("gpulab down --name t-lab",)
    assert folder.read()


def test_stopped_nodes_are_started_and_heard(
    up: Callable[[Order], None], api: FakeApi, engine: FakeEngine, said: list[str]
) -> None:
    """What the API server has of them from before does not count."""
    up(ORDER)
    stopped = engine.node("t-lab-worker", running=False)
    engine.set(containers=[*engine.nodes("control-plane"), stopped])
    api.add(node("t-lab-worker", devices=2, heard="2199-01-01T00:00:00Z"))
    up(ORDER)
    assert engine.calls("start") == ["start t-lab-worker"]
    assert "done: Starting the stopped nodes t-lab-worker" in said


def test_started_node_that_stays_silent_is_named(
    up: Callable[[Order], None], engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that shows what it says."""
    monkeypatch.setattr(standing, "_START_SECONDS", 0.1)
    up(ORDER)
    stopped = engine.node("t-lab-worker", running=False)
    engine.set(containers=[*engine.nodes("control-plane"), stopped])
    with pytest.raises(TimedOut, match="did not report within") as raised:
        up(ORDER)
    assert raised.value.where == "t-lab-worker"
    assert raised.value.commands[0] == "docker logs t-lab-worker"


def test_node_image_that_a_standing_lab_does_not_use_is_named(
    up: Callable[[Order], None], said: list[str]
) -> None:
    """Nothing that was asked for is silently left out."""
    up(ORDER)
    up(replace(ORDER, node_image="node:v2"))
    assert "the lab's nodes stay on node:v1: node:v2 is for a new lab" in said


def test_damaged_copy_of_the_fleet_is_written_anew(
    up: Callable[[Order], None], folder: LabFolder, said: list[str]
) -> None:
    """It is the lab's own file: `up` mends it, and says what it could not take back."""
    up(ORDER)
    folder.fleet.write_text("pools: [")
    up(ORDER)
    assert any(line.endswith("labels and taints of the earlier fleet stay") for line in said)
    assert folder.placed_fleet() == Fleet.default().placed_on(["t-lab-worker"])
