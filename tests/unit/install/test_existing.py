"""`up` and `down` on a cluster that is there, and goes on."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.cluster.record import LabFolder, Record
from lab.core.errors import CleanUpFailed, Interrupted, LabError, NotReady, UsageError
from lab.core.fleet import Fleet, Pool
from lab.core.progress import Progress
from lab.install.down import take_down
from lab.install.existing.removal import detach
from lab.install.order import Order
from lab.install.site import Site
from lab.install.status import running_lab
from lab.install.up import bring_up
from tests.unit.install.interrupting import Interrupting
from tests.unit.install.orders import DAEMON_SET, STEPS
from tests.unit.stand_ins.api_server import GPU, KUBE_SYSTEM, FakeApi, Json, node
from tests.unit.stand_ins.engine import FakeEngine
from tests.unit.stand_ins.kind_program import write_kubeconfig

HEAD, WORKER = "t-lab-control-plane", "t-lab-worker"
SECRET = f"{KUBE_SYSTEM}/secrets/gpu-lab-control"
PODS = f"{KUBE_SYSTEM}/pods"
CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


@dataclass(frozen=True)
class User:
    """A user with a cluster: the file that reaches it, and `up` and `down` for it."""

    kubeconfig: Path
    up: Callable[[Order], None]
    site: Site

    @property
    def order(self) -> Order:
        """What is asked for: the chapter's fleet on the user's cluster."""
        fleet = Fleet.default()
        return Order("t-lab", fleet, None, None, 30, kubeconfig=self.kubeconfig)

    def down(self) -> bool:
        """Take the lab down."""
        return take_down("t-lab", self.site)


@pytest.fixture
def user(
    site: Site, up: Callable[[Order], None], api: FakeApi, engine: FakeEngine, tmp_path: Path
) -> User:
    """Return a user whose cluster is one of kind, in this machine's engine, that others made."""
    file = tmp_path / "users.config"
    write_kubeconfig(file, api.address)
    engine.set(containers=[engine.node(each, mark="") for each in (HEAD, WORKER)])
    for name, found in api.nodes.items():
        found["spec"]["providerID"] = f"kind://docker/t-lab/{name}"
    api.nodes[HEAD]["metadata"]["labels"][CONTROL_PLANE] = ""
    api.runs = partial(ended, api)
    return User(file, up, site)


def ended(api: FakeApi, pod: Json) -> Json:
    """Return what becomes of a pod that acts on a node: it ends well, and has printed nothing."""
    api.logs[pod["metadata"]["name"]] = ""
    state = {"terminated": {"exitCode": 0}}
    container = {"name": "node", "image": "", "ready": False, "restartCount": 0, "state": state}
    return {"status": {"phase": "Succeeded", "containerStatuses": [container]}}


def made(api: FakeApi) -> list[Json]:
    """Return the pods that were created, as they were sent."""
    posts = [each for each in api.requests if (each.method, each.path) == ("POST", PODS)]
    return [each.body for each in posts if "dryRun" not in each.query]


def changes(api: FakeApi) -> list[str]:
    """Return the paths of what was changed in the cluster, and the pods that were made."""
    changed = [each.path for each in api.requests if each.method in {"PATCH", "DELETE"}]
    return [*changed, *(each["metadata"]["name"] for each in made(api))]


def test_a_fleet_is_placed_on_a_cluster_that_is_there(
    user: User, engine: FakeEngine, folder: LabFolder, said: list[str]
) -> None:
    """The first line says what was chosen and why; the image goes into nodes that are kind's."""
    user.up(user.order)
    assert said == [
        f"backend existing: --kubeconfig is given; context 'kind' of {user.kubeconfig}",
        *(f"done: {step}" for step in STEPS[1:]),
    ]
    assert list(engine.state()["sent"]) == [WORKER]
    wanted = Record("t-lab", "existing", "ready", nodes=(WORKER,), cluster="cluster-1")
    assert folder.read() == wanted


def test_the_lab_has_a_kubeconfig_of_its_own(user: User, folder: LabFolder) -> None:
    """Readable by its user alone, and the user's file is as it was."""
    before = user.kubeconfig.read_bytes()
    user.up(user.order)
    assert user.kubeconfig.read_bytes() == before
    assert folder.kubeconfig.stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(folder.kubeconfig.read_text())["current-context"] == "kind"


def test_the_lab_can_be_asked(user: User) -> None:
    """As any other, and by its own kubeconfig."""
    user.up(user.order)
    user.kubeconfig.unlink()
    lab = running_lab(user.site, "t-lab")
    assert (lab.record.backend, "restart" in lab.access.can) == ("existing", False)
    assert lab.client.version() == "v1.36.3"


def test_up_again_needs_no_kubeconfig(user: User, said: list[str], folder: LabFolder) -> None:
    """The lab is there, with its nodes."""
    user.up(user.order)
    said.clear()
    user.up(replace(user.order, kubeconfig=None))
    assert said[0].startswith("backend existing: the lab 't-lab' is there; context 'kind' of ")
    assert folder.read() == Record(
        "t-lab", "existing", "ready", nodes=(WORKER,), cluster="cluster-1"
    )


def test_an_image_of_a_registry_is_pulled(user: User, api: FakeApi, engine: FakeEngine) -> None:
    """Nothing is built or streamed, and the next `up` remembers it."""
    for found in api.nodes.values():
        found["spec"] = {}
    user.up(replace(user.order, plugin_image="registry.example.com/plugin:1"))
    user.up(replace(user.order, kubeconfig=None))
    for each in api.patches(DAEMON_SET):
        (container,) = each.body["spec"]["template"]["spec"]["containers"]
        assert container["image"] == "registry.example.com/plugin:1"
        assert container["imagePullPolicy"] == "IfNotPresent"
    assert engine.state()["sent"] == {}


def refused(user: User, order: Order, api: FakeApi, folder: LabFolder) -> LabError:
    """Return the error of an `up` that is refused, and see that it has changed nothing."""
    with pytest.raises(LabError) as raised:
        user.up(order)
    assert changes(api) == []
    assert not folder.path.exists()
    return raised.value


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ({"context": "prod"}, "the kubeconfig has no context 'prod'"),
        ({"kubeconfig": Path("/nowhere")}, "the kubeconfig cannot be read"),
        ({"kubeconfig": None, "backend": "existing"}, "--backend existing: for a cluster"),
        ({"nodes": ("a",)}, "the cluster has no node a"),
        ({"fleet": Fleet((Pool("a", 2, GPU, 2),))}, "the fleet needs 2 nodes, and the lab has 1"),
        ({"fleet": Fleet((Pool("a", 1, GPU, 2, node_names=("w",)),))}, "the fleet names nodes"),
    ],
)
def test_what_cannot_be_is_refused(
    user: User, api: FakeApi, folder: LabFolder, asked: dict[str, Any], what: str
) -> None:
    """Before anything is changed."""
    error = refused(user, replace(user.order, **asked), api, folder)
    assert error.what.startswith(what)
    assert error.exit_code == 2


def test_missing_rights_are_refused(user: User, api: FakeApi, folder: LabFolder) -> None:
    """The machine is not ready: someone else has to do something."""
    api.denied = {("create", "secrets")}
    error = refused(user, user.order, api, folder)
    assert (error.exit_code, error.seen) == (3, "not allowed: create secrets in kube-system")


def test_an_image_that_no_node_could_get_is_refused(
    user: User, api: FakeApi, folder: LabFolder
) -> None:
    """Such nodes need a registry."""
    api.nodes[WORKER]["spec"]["providerID"] = "aws:///i-1"
    error = refused(user, user.order, api, folder)
    assert error.what.startswith("the plugin's image has to be pulled by the nodes")
    assert "--plugin-image" in error.remedy


def test_another_lab_on_the_cluster_is_refused(user: User, api: FakeApi, folder: LabFolder) -> None:
    """They would take each other's plugins; the way out names what is left, and nothing else."""
    token = b64encode(b"of another lab").decode()
    metadata = {"creationTimestamp": "2026-12-01T10:00:00Z"}
    api.objects[SECRET] = {"metadata": metadata, "data": {"token": token}}
    error = refused(user, user.order, api, folder)
    assert (error.what, error.exit_code) == (
        "another lab is on this cluster: there can be one only",
        3,
    )
    named = "secret/gpu-lab-control configmap/gpu-lab-fleet daemonset/fake-gpu-device-plugin"
    assert error.commands == (f"kubectl -n kube-system delete {named}",)


def test_a_server_that_does_not_answer_is_told_as_the_user_named_it(
    user: User, api: FakeApi, folder: LabFolder
) -> None:
    """With a command to try."""
    api.refusal = (401, "Unauthorized", "Unauthorized")
    error = refused(user, user.order, api, folder)
    assert (error.where, error.seen) == (f"context 'kind' of {user.kubeconfig}", "Unauthorized")
    flags = f"--kubeconfig {user.kubeconfig} --context kind"
    assert error.commands == (f"kubectl {flags} get nodes",)


def test_another_plugin_on_a_node_is_refused(user: User, api: FakeApi, folder: LabFolder) -> None:
    """Real devices would look fake."""
    api.add(node(WORKER, devices=8))
    api.nodes[WORKER]["spec"]["providerID"] = f"kind://docker/t-lab/{WORKER}"
    error = refused(user, user.order, api, folder)
    assert error.what.startswith("another plugin serves")


def test_a_lab_stays_on_its_cluster(user: User, api: FakeApi, folder: LabFolder) -> None:
    """What it knows of one cluster is wrong for another."""
    user.up(user.order)
    before = folder.kubeconfig.read_text()
    api.objects[KUBE_SYSTEM] = {"metadata": {"uid": "cluster-2"}}
    with pytest.raises(UsageError, match="the lab 't-lab' is on another cluster"):
        user.up(user.order)
    assert folder.kubeconfig.read_text() == before


@pytest.mark.parametrize("there", [False, True])
def test_an_interrupted_up_leaves_what_was_there(
    user: User, api: FakeApi, engine: FakeEngine, folder: LabFolder, *, there: bool
) -> None:
    """A new lab goes again, one that was there stays; the cluster always does."""
    if there:
        user.up(user.order)
    interrupting = replace(user.site, progress=Interrupting(user.site.progress, STEPS[-1]))
    with pytest.raises(Interrupted):
        bring_up(user.order, interrupting)
    labels = api.nodes[WORKER]["metadata"]["labels"]
    assert (folder.path.exists(), SECRET in api.objects) == (there, there)
    assert ("gpu-lab/device-plugin" in labels) == there
    assert len(engine.names()) == 2


def test_down_takes_back_what_up_has_put_there(
    user: User, api: FakeApi, engine: FakeEngine, folder: LabFolder, said: list[str]
) -> None:
    """Objects, labels, taints and the plugin's files; what a kubelet keeps is said."""
    before = {name: set(found["metadata"]["labels"]) for name, found in api.nodes.items()}
    user.up(replace(user.order, fleet=Fleet((Pool("a", 1, GPU, 2, taint=True),))))
    assert user.down()
    after = {name: set(found["metadata"]["labels"]) for name, found in api.nodes.items()}
    assert after == before
    assert api.nodes[WORKER]["spec"]["taints"] == []
    assert (list(api.objects), api.pods) == (["/version", KUBE_SYSTEM], [])
    (pod,) = made(api)
    assert pod["spec"]["containers"][0]["command"][-3:] == ["rm", "-rf", "/var/lib/gpu-lab"]
    assert any(line.startswith(f"{GPU}: the kubelets of {WORKER} keep the name") for line in said)
    assert (engine.names(), folder.path.exists()) == ([HEAD, WORKER], False)


def test_down_works_without_docker_and_says_what_stays(
    user: User, api: FakeApi, engine: FakeEngine, said: list[str]
) -> None:
    """Nothing of it is in the engine; files on nodes need a pod that may remove them."""
    user.up(user.order)
    engine.set(away="Cannot connect to the Docker daemon")
    api.no_pods = "violates PodSecurity"
    assert user.down()
    stay = f"files of the plugin stay in /var/lib/gpu-lab of {WORKER}: violates PodSecurity"
    assert stay in said


def test_down_can_be_tried_again(user: User, api: FakeApi, folder: LabFolder) -> None:
    """A cluster that does not answer is not left in half."""
    user.up(user.order)
    api.refusal = (503, "Service Unavailable", "etcd is away")
    with pytest.raises(CleanUpFailed) as raised:
        user.down()
    assert raised.value.seen.endswith("etcd is away")
    assert raised.value.commands == ("gpulab down --name t-lab", f"rm -r {folder.path}")
    api.refusal = None
    assert [user.down(), folder.path.exists()] == [True, False]


def test_files_of_a_lost_cluster_are_removed_by_what_is_pasted(
    tmp_path: Path, progress: Progress
) -> None:
    """And nothing else: a blank in the folder's path ends no argument."""
    folder = LabFolder(tmp_path / "my labs" / "t-lab")
    folder.path.mkdir(parents=True)
    folder.fleet.touch()
    with pytest.raises(CleanUpFailed) as raised:
        detach(folder, progress)
    assert raised.value.commands == ("gpulab down --name t-lab", f"rm -r '{folder.path}'")


@pytest.mark.parametrize("lost", ["lab.json", "fleet.yaml", "lab.json fleet.yaml"])
def test_down_works_on_half_a_lab(user: User, api: FakeApi, folder: LabFolder, lost: str) -> None:
    """Its own files may be damaged: objects, labels and the plugin's files go all the same."""
    before = {name: set(found["metadata"]["labels"]) for name, found in api.nodes.items()}
    user.up(user.order)
    for each in lost.split():
        (folder.path / each).write_text("{")
    assert user.down()
    assert (SECRET in api.objects, folder.path.exists()) == (False, False)
    after = {name: set(found["metadata"]["labels"]) for name, found in api.nodes.items()}
    assert (after, len(made(api))) == (before, 1)


def test_down_again_after_half_a_down(user: User, api: FakeApi, folder: LabFolder) -> None:
    """The plugin's objects had gone, and then it was interrupted."""
    user.up(user.order)
    for kept in [each for each in api.objects if each.startswith("/apis")]:
        api.remove(kept)
    assert user.down()
    assert (made(api), folder.path.exists()) == ([], False)


def test_down_leaves_alone_what_is_another_labs(
    user: User, api: FakeApi, folder: LabFolder, said: list[str]
) -> None:
    """Someone was told to remove what was left of this one, and has brought up their own."""
    user.up(user.order)
    token = b64encode(b"of another lab").decode()
    api.objects[SECRET] = {"metadata": {}, "data": {"token": token}}
    before = len(changes(api))
    assert user.down()
    assert len(changes(api)) == before
    assert "another lab is on the cluster by now: nothing was removed from there" in said
    assert not folder.path.exists()


def test_down_removes_pods_that_a_killed_command_left(user: User, api: FakeApi) -> None:
    """They are privileged, and nobody would miss them."""
    user.up(user.order)
    labels = {"gpu-lab/act": "12345678"}
    left = {"name": "gpu-lab-node-1", "namespace": "kube-system", "labels": labels}
    api.pods.append({"metadata": left, "spec": {"nodeName": WORKER, "containers": []}})
    user.down()
    assert api.pods == []


def test_down_says_what_it_could_not_tidy(user: User, api: FakeApi, said: list[str]) -> None:
    """A node on which no pod starts does not keep the lab in the cluster."""
    user.up(user.order)
    api.runs = lambda _: {"status": {"phase": "Failed", "reason": "NodeShutdown"}}
    assert user.down()
    assert f"files of the plugin stay in /var/lib/gpu-lab of {WORKER}: NodeShutdown" in said
    assert SECRET not in api.objects


def test_down_without_its_kubeconfig_says_that_something_stays(
    user: User, folder: LabFolder
) -> None:
    """Exit 0 would claim that nothing is left."""
    user.up(user.order)
    folder.kubeconfig.unlink()
    with pytest.raises(CleanUpFailed) as raised:
        user.down()
    assert raised.value.seen == "the lab's copy of your kubeconfig is gone"
    assert folder.path.exists()


def test_a_lab_without_its_kubeconfig_is_told_how_to_get_it(user: User, folder: LabFolder) -> None:
    """The user has the one that it was copied from."""
    user.up(user.order)
    folder.kubeconfig.unlink()
    with pytest.raises(NotReady, match="the lab's copy of your kubeconfig is gone") as raised:
        running_lab(user.site, "t-lab")
    assert raised.value.commands == ("gpulab up --name t-lab --kubeconfig FILE",)
    user.up(user.order)
    assert running_lab(user.site, "t-lab").client.version()


def test_a_node_that_has_left_the_cluster_is_passed_over(user: User, api: FakeApi) -> None:
    """There is nothing to take back from it."""
    user.up(user.order)
    del api.nodes[WORKER]
    assert user.down()
