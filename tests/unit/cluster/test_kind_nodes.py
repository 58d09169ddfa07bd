"""An image goes into all nodes."""

import hashlib
from pathlib import Path

import pytest

from lab.cluster.kind.nodes import load_image
from lab.core.errors import Interrupted
from lab.host.processes import Processes, ProcessFailed
from tests.unit.stand_ins.engine import FakeEngine


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an image archive that is larger than a pipe holds."""
    path = tmp_path / "image.tar"
    path.write_bytes(b"layers" * 100_000)
    return path


def test_each_node_receives_the_whole_archive(engine: FakeEngine, archive: Path) -> None:
    """It is streamed into the container runtime, under the names that Kubernetes looks for."""
    load_image(Processes(), ["t-lab-worker", "t-lab-worker2"], archive)
    sent = engine.state()["sent"]
    whole = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert [sent[name][1] for name in sorted(sent)] == [whole, whole]
    assert sent["t-lab-worker"][0].startswith("ctr --namespace=k8s.io images import ")


def test_node_that_refuses_ends_the_loading(engine: FakeEngine, archive: Path) -> None:
    """The node and the runtime's own words are in the error."""
    engine.set(broken=["t-lab-worker2"])
    with pytest.raises(ProcessFailed) as raised:
        load_image(Processes(), ["t-lab-worker2"], archive)
    assert raised.value.where.startswith("docker exec -i t-lab-worker2 ctr")
    assert raised.value.seen == "ctr: t-lab-worker2 has no space left on device"


@pytest.mark.usefixtures("engine")
def test_cancelled_loading_does_not_begin(archive: Path) -> None:
    """An interrupt before the first byte leaves the nodes as they are."""
    processes = Processes()
    processes.cancel()
    with pytest.raises(Interrupted):
        load_image(processes, ["t-lab-worker"], archive)
