"""A lab that was made, on an API server of the tests' own."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from fake_plugin.plan import Plan
from lab.cluster.record import LabFolder, Record
from lab.core.fleet import Fleet, Pool, dump_fleet
from lab.harness import collection, series, venue
from tests.unit.cli.running_labs import Labs, Own, fleet, named
from tests.unit.cli.two_nodes import CHIPS, GPUS, H100, NPU
from tests.unit.stand_ins.api_server import FakeApi, node, pod, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig
from tests.unit.stand_ins.plugin import TOKEN, Plugin

if TYPE_CHECKING:
    from lab.install.order import Order


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the state folder of the command, which is empty."""
    monkeypatch.setenv("GPULAB_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("GPULAB_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "state"


@pytest.fixture
def lab(state: Path) -> Iterator[FakeApi]:
    """Make the lab `t-lab` with two devices, and return its API server."""
    folder = LabFolder(state / "t-lab")
    folder.write(Record("t-lab", "kind", "ready", "node:v1"))
    folder.fleet.write_text(dump_fleet(Fleet.default().placed_on(("t-lab-worker",))))
    api = FakeApi()
    api.add(node("t-lab-control-plane"), node("t-lab-worker", devices=2))
    with serving(api):
        write_kubeconfig(folder.kubeconfig, api.address)
        yield api


@pytest.fixture
def plugins(lab: FakeApi, state: Path, tmp_path: Path) -> tuple[Plugin, Plugin]:
    """Return the plugins of a lab of two nodes: two GPUs on the one, two chips on the other."""
    folder = LabFolder(state / "t-lab")
    pools = (Pool("nvidia", 1, None, 2, accelerator=H100), Pool("npu", 1, NPU, 2))
    placed = Fleet(pools).placed_on(("t-lab-worker", "t-lab-worker2"))
    folder.fleet.write_text(dump_fleet(placed))
    folder.write_text(folder.token, TOKEN)
    lab.add(node("t-lab-worker2"))
    lab.pods = [pod("plugin-1", "t-lab-worker"), pod("plugin-2", "t-lab-worker2")]
    found = (
        Plugin("t-lab-worker", Plan((GPUS,)), tmp_path / "1"),
        Plugin("t-lab-worker2", Plan((CHIPS,), sticky=True), tmp_path / "2"),
    )
    for number, each in enumerate(found, 1):
        lab.listening[f"plugin-{number}:9441"] = each.answer
    return found


@pytest.fixture
def labs(state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labs:
    """Return the labs, and scenarios: a, b, c that needs a restart of nodes, d of other devices."""
    found = Labs(state)
    known = (named("a"), named("b"), named("c", "restart", fleet="pair"), named("d", fleet="mig"))
    monkeypatch.setattr(collection, "scenarios", lambda: known)
    monkeypatch.setattr(series, "fleet_of", lambda each: fleet(each.fleet))
    monkeypatch.setattr(collection, "fleet_of", lambda each: fleet(each.fleet))
    monkeypatch.setattr(series, "run_scenario", found.ran)
    monkeypatch.setattr(series, "_PAUSE_SECONDS", 0)
    monkeypatch.setattr(venue, "running_lab", found.running)
    monkeypatch.setattr(venue, "OwnLabs", lambda order, _: Own(found, order))
    monkeypatch.setattr(venue, "UsedLab", lambda *_: Own(found, cast("Order", None)))
    monkeypatch.chdir(tmp_path)
    return found
