"""A lab on a cluster that somebody else made, and that goes on without it."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from lab.cli.console import PlainProgress
from lab.cluster.kind.program import find_kind
from lab.host.folders import Folders
from lab.host.processes import Processes
from tests.kind.machine import Lab, Machine, run, wait_until

CLUSTER, NAME = "t-users", "t-existing"
WORKER = f"{CLUSTER}-worker"
DEVICE = "fake.example.com/device"
#: As kind would make one by itself: kubelets report every ten seconds.
CONFIG = """\
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes:
- role: control-plane
- role: worker
"""
LABELS = "app.kubernetes.io/part-of=gpu-lab"


@dataclass(frozen=True)
class OnTheirs(Lab):
    """A lab whose nodes bear the names of another cluster."""

    @property
    def worker(self) -> str:
        """The node with the devices."""
        return WORKER


@pytest.fixture(scope="module")
def kubeconfig(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the kubeconfig of a cluster that kind alone has made."""
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "kind.yaml").write_text(CONFIG)
    kind = str(find_kind(Processes(), Folders.of(), PlainProgress(sys.stderr)).path)
    file = folder / "kubeconfig"
    named = ("--name", CLUSTER, "--kubeconfig", str(file))
    # One of a run that was killed.
    run(kind, "delete", "cluster", *named)
    options = ("--image", machine.node_image(), "--config", str(folder / "kind.yaml"))
    run(kind, "create", "cluster", *named, *options, "--wait", "120s")
    yield file
    run(kind, "delete", "cluster", *named)


@pytest.fixture(scope="module")
def theirs(
    machine: Machine, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OnTheirs]:
    """Return the chapter's lab on that cluster."""
    folder = tmp_path_factory.mktemp("bin")
    before = kubeconfig.read_bytes()
    with machine.lab(NAME, folder, "--kubeconfig", str(kubeconfig)):
        yield OnTheirs(machine, NAME, folder)
    assert kubeconfig.read_bytes() == before


def gpulab(lab: Lab, *arguments: str, code: int = 0) -> str:
    """Run `gpulab` on the lab; return all that it printed."""
    ended = lab.machine.gpulab(*arguments, "--name", lab.name)
    assert ended.returncode == code, ended.stderr
    return ended.stdout + ended.stderr


def test_the_devices_are_there_and_the_cluster_is_not_the_labs(theirs: OnTheirs) -> None:
    """The status says what it is on; the kubeconfig is a copy of the lab's own."""
    status = json.loads(theirs.machine.gpulab("status", "--name", NAME, "-o", "json").stdout)
    assert (status["backend"], status["ready"]) == ("existing", True)
    assert status["kubeconfig"] == str(theirs.kubeconfig)
    assert theirs.kubeconfig.stat().st_mode & 0o777 == 0o600


def test_a_pod_gets_a_device(theirs: OnTheirs) -> None:
    """As on a cluster of the lab's own."""
    theirs.start_pod("one", {DEVICE: 1})
    theirs.wait_for_pod("one")
    assert theirs.in_pod("one", "echo $GPULAB_VISIBLE_DEVICES").startswith("fake-")
    theirs.kubectl("delete", "pod", "one", "--now", "--wait")


def test_devices_break_and_are_mended(theirs: OnTheirs) -> None:
    """Through the API server, which is all that `inject` needs."""
    gpulab(theirs, "inject", "unhealthy", "0")
    theirs.wait_for_allocatable(1, 30)
    gpulab(theirs, "inject", "clear")
    theirs.wait_for_allocatable(2, 30)
    assert "ListAndWatch" in gpulab(theirs, "journal")


def test_a_kubelet_is_restarted_by_a_pod(theirs: OnTheirs) -> None:
    """Another process has its place; what has acted is gone."""
    main = ("systemctl", "show", "kubelet", "--property=MainPID")
    before = theirs.in_worker(*main)
    assert "it is Ready" in gpulab(theirs, "node", "restart-kubelet", "chapter-0")
    assert theirs.in_worker(*main) != before
    theirs.wait_for_allocatable(2, 30)
    acting = ("pods", "-n", "kube-system", "-l", "gpu-lab/act")
    wait_until(lambda: theirs.get(*acting)["items"] == [], "what has acted is gone")


def test_a_kubelet_is_stopped_and_started(theirs: OnTheirs) -> None:
    """By a pod that stays while the node has none."""
    gpulab(theirs, "node", "stop-kubelet", "chapter-0")
    state = run("docker", "exec", WORKER, "systemctl", "is-active", "kubelet", check=False)
    assert state.stdout == "inactive\n"
    gpulab(theirs, "node", "start-kubelet", "chapter-0")
    assert theirs.in_worker("systemctl", "is-active", "kubelet") == "active\n"
    theirs.wait_for_allocatable(2, 30)


def test_a_node_is_not_restarted(theirs: OnTheirs) -> None:
    """The lab has no way to, and says so."""
    said = gpulab(theirs, "node", "restart", "chapter-0", code=3)
    assert "the backend 'existing' cannot restart a node" in said


def test_another_lab_finds_no_place(theirs: OnTheirs, kubeconfig: Path) -> None:
    """The one that is there goes on."""
    up = theirs.machine.gpulab("up", "--name", "t-second", "--kubeconfig", str(kubeconfig))
    assert up.returncode == 3
    assert "another lab is on this cluster" in up.stderr
    theirs.wait_for_allocatable(2, 5)


@pytest.fixture(scope="module")
def guest(theirs: OnTheirs, kubeconfig: Path) -> Path:
    """Return the kubeconfig of a user of that cluster who may do nothing; the lab has left it."""
    gpulab(theirs, "down")
    admin = ("--kubeconfig", str(kubeconfig))
    run(theirs.kubectl_program(), *admin, "create", "serviceaccount", "guest")
    token = run(theirs.kubectl_program(), *admin, "create", "token", "guest").stdout
    config = yaml.safe_load(kubeconfig.read_text())
    (user,) = config["users"]
    user["user"] = {"token": token}
    file = kubeconfig.with_name("guest")
    file.write_text(yaml.safe_dump(config))
    return file


def test_the_lab_has_left_nothing_but_the_cluster(
    guest: Path, theirs: OnTheirs, kubeconfig: Path
) -> None:
    """No object, no label, no file on the nodes, no device."""
    assert guest.exists()
    admin = (theirs.kubectl_program(), "--kubeconfig", str(kubeconfig))
    kinds = "daemonsets,pods,secrets,configmaps"
    found = json.loads(
        run(*admin, "get", kinds, "-n", "kube-system", "-l", LABELS, "-o", "json").stdout
    )
    # The node image's own network has that label too.
    assert [each for each in found["items"] if "routes" not in each["metadata"]["name"]] == []
    worker = json.loads(run(*admin, "get", "node", WORKER, "-o", "json").stdout)
    assert not [each for each in worker["metadata"]["labels"] if each.startswith("gpu-lab/")]
    assert (
        "/var/lib/gpu-lab"
        not in run("docker", "exec", WORKER, "find", "/var/lib", "-maxdepth", "1").stdout
    )

    def allocatable() -> str:
        node = json.loads(run(*admin, "get", "node", WORKER, "-o", "json").stdout)
        count: str = node["status"]["allocatable"].get(DEVICE, "0")
        return count

    wait_until(lambda: allocatable() == "0", "the devices are gone", 30)


def test_the_role_that_is_printed_is_all_that_it_takes(
    guest: Path, theirs: OnTheirs, kubeconfig: Path
) -> None:
    """Refused first, with nothing changed; then `up` and `down`; acting on nodes takes more."""
    machine, flags = theirs.machine, ("--name", NAME, "--kubeconfig", str(guest))
    refused = machine.gpulab("up", *flags)
    assert refused.returncode == 3
    assert "not allowed: get, list, watch, patch nodes" in refused.stderr
    role = refused.stderr.partition("apiVersion:")[2].partition("$ ")[0]
    manifest = guest.with_name("role.yaml")
    manifest.write_text(f"         apiVersion:{role}")
    admin = ("--kubeconfig", str(kubeconfig))
    run(theirs.kubectl_program(), *admin, "apply", "-f", str(manifest))
    binding = refused.stderr.rpartition("$ kubectl ")[2].split()
    run(theirs.kubectl_program(), *admin, *binding)
    up = machine.gpulab("up", *flags)
    assert up.returncode == 0, up.stderr
    assert "cannot restart a kubelet" in gpulab(theirs, "node", "restart-kubelet", WORKER, code=3)
    assert "files of the plugin stay" in gpulab(theirs, "down")
