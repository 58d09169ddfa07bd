"""An API server without a cluster behind it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.cluster.client import Client, connect
from tests.unit.stand_ins.api_server import FakeApi, node, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """Serve a cluster of one control plane and one worker."""
    cluster = FakeApi()
    cluster.add(node("t-lab-control-plane"), node("t-lab-worker"))
    with serving(cluster):
        yield cluster


@pytest.fixture
def client(api: FakeApi, tmp_path: Path) -> Client:
    """Return the lab's connection to it."""
    path = tmp_path / "kubeconfig"
    write_kubeconfig(path, api.address)
    return connect(path, "t-lab")
