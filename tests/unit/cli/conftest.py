"""A lab that was made, on an API server of the tests' own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.cluster.record import LabFolder, Record
from lab.core.fleet import Fleet
from tests.unit.stand_ins.api_server import FakeApi, node, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig


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
    folder.fleet.write_text(Fleet.default().placed_on(("t-lab-worker",)).to_yaml())
    api = FakeApi()
    api.add(node("t-lab-control-plane"), node("t-lab-worker", devices=2))
    with serving(api):
        write_kubeconfig(folder.kubeconfig, api.address)
        yield api
