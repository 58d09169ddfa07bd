"""What a lab looks like, asked of its API server."""

from collections.abc import Callable

import pytest

from lab.cluster.record import LabFolder, Record, RecordDamaged
from lab.core.errors import CheckFailed, NotReady
from lab.core.fleet import Fleet, Pool, dump_fleet
from lab.install.site import Site
from lab.install.status import Devices, LabStatus, PluginStatus, observe, running_lab
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod, user_pod
from tests.unit.stand_ins.kind_program import write_kubeconfig

CHAPTER = Fleet.default().placed_on(("t-lab-worker",))


@pytest.fixture
def folder(site: Site, api: FakeApi) -> LabFolder:
    """Return the folder of a lab that was made, for the chapter's fleet."""
    folder = LabFolder.of(site.folders, "t-lab")
    folder.write(Record("t-lab", "kind", "ready", "node:v1"))
    write_kubeconfig(folder.kubeconfig, api.address)
    folder.fleet.write_text(dump_fleet(CHAPTER))
    api.add(node("t-lab-worker", devices=2))
    return folder


@pytest.fixture
def look(site: Site, folder: LabFolder) -> Callable[[], LabStatus]:
    """Return a look at it."""
    assert folder.read()
    return lambda: observe(running_lab(site, "t-lab"))


def requested(status: LabStatus) -> int:
    """Return how many of the worker's devices are requested."""
    return status.nodes[1].resources[GPU].requested


def test_lab_is_described(look: Callable[[], LabStatus], folder: LabFolder) -> None:
    """With the server's own version, and the lab's own kubeconfig."""
    status = look()
    assert (status.name, status.backend, status.kubernetes) == ("t-lab", "kind", "v1.36.3")
    assert (status.kubeconfig, status.ready) == (str(folder.kubeconfig), True)
    assert [(each.name, each.pool) for each in status.nodes] == [
        ("t-lab-control-plane", ""),
        ("t-lab-worker", "chapter"),
    ]
    assert status.nodes[1].resources == {GPU: Devices(2, 2, 0)}


def test_json_is_the_contract(
    look: Callable[[], LabStatus], folder: LabFolder, api: FakeApi
) -> None:
    """These keys and no others: tools read them."""
    api.pods = [pod("plugin-1", "t-lab-worker"), user_pod("mine", "t-lab-worker", 1)]
    folder_of_plugins = "/var/lib/kubelet/device-plugins"
    assert look().as_json() == {
        "name": "t-lab",
        "backend": "kind",
        "kubernetes": "v1.36.3",
        "kubeconfig": str(folder.kubeconfig),
        "ready": True,
        "nodes": [
            {
                "name": "t-lab-control-plane",
                "ready": True,
                "pool": "",
                "devicePluginDir": folder_of_plugins,
                "resources": {},
            },
            {
                "name": "t-lab-worker",
                "ready": True,
                "pool": "chapter",
                "devicePluginDir": folder_of_plugins,
                "resources": {GPU: {"capacity": 2, "allocatable": 2, "requested": 1}},
            },
        ],
        "plugins": [
            {
                "node": "t-lab-worker",
                "pod": "plugin-1",
                "ready": True,
                "restarts": 0,
                "image": "plugin:1",
            }
        ],
    }


@pytest.mark.parametrize(
    ("changed", "ready"),
    [
        pytest.param(node("t-lab-worker", devices=2), True, id="all there"),
        pytest.param(node("t-lab-worker", devices=1), False, id="a device is missing"),
        pytest.param(node("t-lab-worker"), False, id="no plugin has registered"),
        pytest.param(node("t-lab-worker", devices=2, ready=False), False, id="its node is not"),
        pytest.param(node("t-lab-control-plane", ready=False), False, id="another node is not"),
    ],
)
def test_lab_is_ready_when_its_nodes_and_devices_are(
    look: Callable[[], LabStatus], api: FakeApi, changed: dict[str, object], *, ready: bool
) -> None:
    """One exit code for scripts, whatever is missing."""
    api.add(changed)
    assert look().ready == ready


def test_lab_without_a_node_of_its_fleet_is_not_ready(
    look: Callable[[], LabStatus], api: FakeApi
) -> None:
    """Someone has deleted it."""
    del api.nodes["t-lab-worker"]
    assert not look().ready


def test_lab_whose_fleet_was_never_placed_is_not_ready(
    look: Callable[[], LabStatus], folder: LabFolder
) -> None:
    """An `up` that was killed before it deployed the plugin; the nodes can be seen all the same."""
    folder.fleet.unlink()
    status = look()
    assert not status.ready
    assert [each.pool for each in status.nodes] == ["", ""]


@pytest.mark.parametrize(
    ("pods", "count"),
    [
        pytest.param([user_pod("a", "t-lab-worker", 1)], 1, id="running"),
        pytest.param([user_pod("a", "t-lab-worker", 1, "Pending")], 1, id="starting"),
        pytest.param([user_pod("a", "t-lab-worker", 1, "Succeeded")], 0, id="ended well"),
        pytest.param([user_pod("a", "t-lab-worker", 1, "Failed")], 0, id="ended badly"),
        pytest.param([user_pod("a", "", 3, "Pending")], 0, id="without a node"),
        pytest.param([user_pod("a", "t-lab-control-plane", 1)], 0, id="on another node"),
        pytest.param([user_pod(each, "t-lab-worker", 1) for each in "ab"], 2, id="two"),
    ],
)
def test_requested_is_what_the_nodes_pods_hold(
    look: Callable[[], LabStatus], api: FakeApi, pods: list[dict[str, object]], count: int
) -> None:
    """As the scheduler counts: a pod holds its devices until it has ended."""
    api.pods = pods
    assert requested(look()) == count


def test_devices_outside_of_the_fleet_are_shown(
    look: Callable[[], LabStatus], api: FakeApi
) -> None:
    """A user's own plugin may run beside ours."""
    worker = node("t-lab-worker", devices=2)
    worker["status"]["capacity"]["mine.example.com/x"] = "4"
    api.add(worker)
    shown = look().nodes[1].resources
    assert shown["mine.example.com/x"] == Devices(capacity=4, allocatable=0, requested=0)


@pytest.mark.parametrize(
    ("resource", "devices", "pool"),
    [(GPU, 2, "chapter"), ("of.earlier/fleet", 0, "- (earlier)"), ("of.another/plugin", 4, "-")],
)
def test_resources_are_of_the_pool_that_has_them(
    look: Callable[[], LabStatus], api: FakeApi, resource: str, devices: int, pool: str
) -> None:
    """The kubelet keeps the names of an earlier fleet with 0: they are not this pool's."""
    for counts in ("capacity", "allocatable"):
        api.nodes["t-lab-worker"]["status"][counts][resource] = str(devices)
    assert look().nodes[1].pool_of(resource) == pool


def test_pools_on_one_node_are_both_named(look: Callable[[], LabStatus], folder: LabFolder) -> None:
    """They share it."""
    resources = {"a": GPU, "b": "npu.example.com/chip"}
    pools = [
        Pool(name, 1, each, 2, node_names=("t-lab-worker",)) for name, each in resources.items()
    ]
    folder.fleet.write_text(dump_fleet(Fleet(tuple(pools))))
    assert look().nodes[1].pool == "a,b"


def test_plugins_are_those_pods_alone(look: Callable[[], LabStatus], api: FakeApi) -> None:
    """One that is not ready says so."""
    api.pods = [
        pod("plugin-1", "t-lab-worker", waiting={"reason": "CrashLoopBackOff"}),
        user_pod("mine", "t-lab-worker", 1),
    ]
    assert look().plugins == (
        PluginStatus("t-lab-worker", "plugin-1", ready=False, restarts=0, image="plugin:1"),
    )


def test_lab_without_a_record_is_no_lab(site: Site, folder: LabFolder) -> None:
    """The record is what makes a lab ours."""
    (folder.path / "lab.json").unlink()
    with pytest.raises(NotReady, match="there is no lab 't-lab'") as raised:
        running_lab(site, "t-lab")
    assert raised.value.commands == ("gpulab up --name t-lab",)


def test_lab_that_is_being_created_is_not_there_yet(site: Site, folder: LabFolder) -> None:
    """Its creation, or what a crash left of it, has not come as far as a kubeconfig."""
    folder.write(Record("t-lab", "kind", "creating", "node:v1"))
    folder.kubeconfig.unlink()
    with pytest.raises(NotReady, match="the creation of the lab 't-lab' has not ended") as raised:
        running_lab(site, "t-lab")
    assert raised.value.commands == ("gpulab up --name t-lab",)


def test_lab_that_lost_its_kubeconfig_is_there(site: Site, folder: LabFolder) -> None:
    """Its nodes run, so the way out is to have the file written again."""
    folder.kubeconfig.unlink()
    with pytest.raises(CheckFailed, match="the lab's kubeconfig is gone") as raised:
        running_lab(site, "t-lab")
    path = str(folder.kubeconfig)
    assert raised.value.where == path
    assert raised.value.commands == (f"kind export kubeconfig --name t-lab --kubeconfig {path}",)


def test_damaged_copy_of_the_fleet_is_the_labs_own(
    look: Callable[[], LabStatus], folder: LabFolder
) -> None:
    """The user did not write it, so there is nothing of theirs to correct."""
    folder.fleet.write_text("pools: [")
    with pytest.raises(RecordDamaged, match="the lab's own copy of its fleet cannot") as raised:
        look()
    error = raised.value
    assert (error.where, error.exit_code) == (str(folder.fleet), 1)
    assert "is not YAML" in error.seen
    assert "writes the copy anew" in error.remedy
    assert error.commands == ("gpulab up --name t-lab",)
