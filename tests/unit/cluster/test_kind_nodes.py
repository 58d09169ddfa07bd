"""An image goes into all nodes."""

import hashlib
import threading
from pathlib import Path

import pytest

from lab.cluster.kind.nodes import load_image, wait_for_runtimes
from lab.core.errors import Interrupted, TimedOut
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
    engine.set(containers=engine.nodes("worker", "worker2"))
    load_image(Processes(), ["t-lab-worker", "t-lab-worker2"], archive, "plugin:1")
    sent = engine.state()["sent"]
    whole = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert [sent[name][1] for name in sorted(sent)] == [whole, whole]
    assert sent["t-lab-worker"][0].startswith("ctr --namespace=k8s.io images import ")


def test_node_that_refuses_ends_the_loading(engine: FakeEngine, archive: Path) -> None:
    """The node and the runtime's own words are in the error."""
    engine.set(broken=["t-lab-worker2"], containers=engine.nodes("worker2"))
    with pytest.raises(ProcessFailed) as raised:
        load_image(Processes(), ["t-lab-worker2"], archive, "plugin:1")
    assert raised.value.where.startswith("docker exec -i t-lab-worker2 ctr")
    assert raised.value.seen == "ctr: t-lab-worker2 has no space left on device"


@pytest.mark.usefixtures("engine")
def test_cancelled_loading_does_not_begin(archive: Path) -> None:
    """An interrupt before the first byte leaves the nodes as they are."""
    processes = Processes()
    processes.cancel()
    with pytest.raises(Interrupted):
        load_image(processes, ["t-lab-worker"], archive, "plugin:1")


def test_node_that_has_the_image_is_left_alone(engine: FakeEngine, archive: Path) -> None:
    """A second `up` streams nothing."""
    engine.set(containers=engine.nodes("worker"))
    for _ in range(2):
        load_image(Processes(), ["t-lab-worker"], archive, "plugin:1")
    assert len(engine.calls("exec -i")) == 1


def test_runtime_of_a_node_that_is_not_yet_there_is_waited_for(engine: FakeEngine) -> None:
    """The node's container comes while it waits."""
    engine.set(containers=engine.nodes("worker"))
    arrival = threading.Timer(0.2, lambda: engine.set(containers=engine.nodes("worker", "worker2")))
    arrival.start()
    wait_for_runtimes(Processes(), ["t-lab-worker", "t-lab-worker2"])
    arrival.join()
    assert engine.calls("exec t-lab-worker2 ctr version")


def test_runtime_that_never_answers_is_named(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The node and Docker's own words are in the error."""
    monkeypatch.setattr("lab.cluster.kind.nodes._BOOT_SECONDS", 0)
    engine.set(containers=[])
    with pytest.raises(TimedOut) as raised:
        wait_for_runtimes(Processes(), ["t-lab-worker"])
    assert (raised.value.where, raised.value.seen) == (
        "t-lab-worker",
        "Error: No such container: t-lab-worker",
    )
