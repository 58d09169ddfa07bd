"""From nothing to devices, from whatever is there to devices, and back where that fails."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from fake_plugin.fleet.plan import Partitions
from lab.cluster.record import LabFolder, Record, RecordDamaged
from lab.core.catalogue import catalogue
from lab.core.errors import Interrupted, NotReady, TimedOut, UsageError
from lab.core.fleet import Fleet, Pool
from lab.core.progress import Progress, Step
from lab.host.processes import Processes, ProcessFailed
from lab.install import up as up_module
from lab.install.lock import alone
from lab.install.site import Site
from lab.install.up import Order, bring_up
from tests.unit.stand_ins.api_server import GPU, FakeApi, node
from tests.unit.stand_ins.engine import FakeEngine

ORDER = Order("t-lab", Fleet.default(), kind_config=None, node_image="node:v1", timeout=30)
NPU = "npu.example.com/chip"
DAEMON_SET = "/apis/apps/v1/namespaces/kube-system/daemonsets/fake-gpu-device-plugin"
STEPS = [
    "Creating the cluster 't-lab'",
    "Loading the plugin image (0 MB)",
    "Deploying the device plugin",
    "Waiting for the devices to become allocatable",
]

pytestmark = pytest.mark.usefixtures("api")


@pytest.fixture
def up(site: Site) -> Callable[[Order], None]:
    """Return `up`, each time as a command of its own."""
    return lambda order: bring_up(order, replace(site, processes=Processes()))


@dataclass(frozen=True)
class Interrupting:
    """A progress whose user presses Ctrl-C when a step begins."""

    progress: Progress
    at: str

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Raise what the signal's handler would."""
        with self.progress.step(title) as step:
            if title == self.at:
                raise Interrupted("interrupted by SIGINT")
            yield step

    def note(self, text: str) -> None:
        """Do as at any note."""
        self.progress.note(text)


def with_nodes(*names: str) -> Order:
    """Return an order for a fleet that names its nodes."""
    return replace(ORDER, fleet=Fleet((Pool("a", len(names), GPU, 2, node_names=names),)))


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


def test_fleet_on_nodes_that_will_not_be_is_refused_at_once(
    up: Callable[[Order], None], engine: FakeEngine, folder: LabFolder
) -> None:
    """Nothing was created for it."""
    with pytest.raises(UsageError, match="names nodes that the cluster does not have"):
        up(with_nodes("t-lab-worker7"))
    assert (engine.names(), folder.path.exists()) == ([], False)


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


def test_what_is_left_of_a_plugin_is_no_rival(up: Callable[[Order], None], api: FakeApi) -> None:
    """The kubelet keeps the key of a resource whose plugin has gone, at 0."""
    api.nodes["t-lab-worker"]["status"]["allocatable"][GPU] = "0"
    up(ORDER)
    assert api.patches(DAEMON_SET)


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
    with pytest.raises(UsageError) as raised:
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
    monkeypatch.setattr(up_module, "_START_SECONDS", 0.1)
    up(ORDER)
    stopped = engine.node("t-lab-worker", running=False)
    engine.set(containers=[*engine.nodes("control-plane"), stopped])
    with pytest.raises(TimedOut, match="did not report within") as raised:
        up(ORDER)
    assert raised.value.where == "t-lab-worker"
    assert raised.value.commands[0] == "docker logs t-lab-worker"


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


def test_second_up_of_one_name_is_refused(up: Callable[[Order], None], site: Site) -> None:
    """While the first one is at work."""
    with alone(site.folders, "t-lab"), pytest.raises(NotReady) as raised:
        up(ORDER)
    assert raised.value.what == "another gpulab is at work on the lab 't-lab'"


def test_cache_that_cannot_be_written_is_named(site: Site, tmp_path: Path) -> None:
    """Nothing begins without a lock."""
    (tmp_path / "file").touch()
    folders = replace(site.folders, cache=tmp_path / "file" / "cache")
    with pytest.raises(NotReady, match="cannot write its own files") as raised:
        bring_up(ORDER, replace(site, folders=folders))
    assert raised.value.where == str(folders.cache)
    assert "GPULAB_CACHE_HOME" in raised.value.remedy


@pytest.mark.usefixtures("up")
def test_two_names_do_not_wait_for_each_other(site: Site) -> None:
    """Each has a lock of its own."""
    with alone(site.folders, "t-lab"), alone(site.folders, "t-other"):
        locks = (site.folders.cache / "locks").iterdir()
        assert {each.name for each in locks} == {"t-lab.lock", "t-other.lock"}


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


def test_cluster_whose_image_is_pulled_for_long_is_waited_for(
    up: Callable[[Order], None], engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time that a node has to boot begins when there is a node."""
    monkeypatch.setenv("FAKE_KIND", "slow")
    monkeypatch.setattr("lab.cluster.kind.nodes._BOOT_SECONDS", 0.5)
    up(ORDER)
    assert engine.names() == ["t-lab-control-plane", "t-lab-worker"]


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

    monkeypatch.setattr(up_module, "build_plugin_image", full)
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
