"""What is put into a cluster for the device plugin, and the wait for its devices."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.client import Client, connect
from lab.core.errors import TimedOut
from lab.core.fleet import Fleet, Pool, load_fleet
from lab.core.progress import Progress, Step
from lab.install.plugin import (
    CONTROL_PORT,
    deploy,
    manifests,
    missing,
    wait_for_allocatable,
    wanted_by,
    withdraw,
)
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, pod, serving
from tests.unit.stand_ins.kind_program import write_kubeconfig

NPU = "npu.example.com/chip"
DAEMON_SET = "/apis/apps/v1/namespaces/kube-system/daemonsets/fake-gpu-device-plugin"
TOKEN = "0123456789abcdef"  # noqa: S105 - of a cluster that is none
SECRET = "/api/v1/namespaces/kube-system/secrets/gpu-lab-control"  # noqa: S105 - a path
CONFIG_MAP = "/api/v1/namespaces/kube-system/configmaps/gpu-lab-fleet"


def fleet(*pools: Pool) -> Fleet:
    """Return a fleet of these pools, or of the chapter's one, on nodes `w1` and `w2`."""
    return (Fleet(pools) if pools else Fleet.default()).placed_on(("w1", "w2"))


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """Serve a cluster of two workers."""
    cluster = FakeApi()
    cluster.add(node("w1"), node("w2"))
    with serving(cluster):
        yield cluster


@pytest.fixture
def client(api: FakeApi, tmp_path: Path) -> Client:
    """Return the lab's connection to it."""
    write_kubeconfig(tmp_path / "kubeconfig", api.address)
    return connect(tmp_path / "kubeconfig", "t-lab")


@pytest.fixture
def step(progress: Progress) -> Iterator[Step]:
    """Return a step that runs."""
    with progress.step("Waiting") as running:
        yield running


@pytest.fixture
def template() -> Any:  # noqa: ANN401 - a manifest
    """Return the pods' template."""
    return manifests(fleet(), "image:1", TOKEN)[2]["spec"]["template"]


@pytest.fixture
def container(template: Any) -> Any:  # noqa: ANN401 - a manifest
    """Return the pods' only container."""
    (only,) = template["spec"]["containers"]
    return only


def test_image_and_fleet_are_filled_in(container: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """The plugin reads the fleet that `up` has placed, from the very same form."""
    _, config_map, _ = manifests(fleet(), "image:1", TOKEN)
    (tmp_path / "fleet.yaml").write_text(config_map["data"]["fleet.yaml"])
    assert load_fleet(tmp_path / "fleet.yaml") == fleet()
    assert container["image"] == "image:1"
    assert container["imagePullPolicy"] == "Never"


def test_token_comes_as_a_file_that_can_be_replaced(template: Any, container: Any) -> None:  # noqa: ANN401
    """In a variable it would be of the pod's start; a Secret's file follows the Secret."""
    secret, *_ = manifests(fleet(), "image:1", TOKEN)
    assert b64decode(secret["data"]["token"]).decode() == TOKEN
    (volume,) = (each for each in template["spec"]["volumes"] if "secret" in each)
    assert volume["secret"] == {"secretName": secret["metadata"]["name"], "defaultMode": 0o400}
    (mount,) = (each for each in container["volumeMounts"] if each["name"] == volume["name"])
    assert f"--token-file={mount['mountPath']}/token" in container["args"]
    assert mount["readOnly"]


def test_control_api_listens_where_it_is_called(container: Any) -> None:  # noqa: ANN401
    """The proxy of the API server takes the port from the lab."""
    assert f"--control=0.0.0.0:{CONTROL_PORT}" in container["args"]
    assert [each["containerPort"] for each in container["ports"]] == [CONTROL_PORT]


def test_changed_fleet_is_a_changed_template(template: Any) -> None:  # noqa: ANN401
    """Kubernetes replaces pods whose template changes, and only those."""
    same = manifests(fleet(), "image:1", TOKEN)[2]["spec"]["template"]
    other = manifests(fleet(Pool("a", 1, GPU, 3)), "image:1", TOKEN)[2]["spec"]["template"]
    assert template == same
    assert template["metadata"]["annotations"] != other["metadata"]["annotations"]


def test_plugin_may_do_nothing_but_its_work(template: Any, container: Any) -> None:  # noqa: ANN401
    """No privilege, no capability, nothing to write on, no token, and 50 MiB."""
    context = container["securityContext"]
    assert context["readOnlyRootFilesystem"]
    assert not context["allowPrivilegeEscalation"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert "privileged" not in context
    assert not template["spec"]["automountServiceAccountToken"]
    assert container["resources"]["limits"]["memory"] == "50Mi"


def test_plugin_sees_few_folders_of_its_node(template: Any) -> None:  # noqa: ANN401
    """The kubelet's sockets, CDI and its own state; neither the host's network nor processes."""
    volumes = template["spec"]["volumes"]
    paths = [each["hostPath"]["path"] for each in volumes if "hostPath" in each]
    assert paths == [
        "/var/lib/kubelet/pod-resources",
        "/var/run/cdi",
        "/var/lib/kubelet/device-plugins",
        "/var/lib/gpu-lab",
    ]
    assert not [key for key in template["spec"] if key.startswith("host")]


def test_plugin_runs_on_the_fleets_nodes_whatever_their_taints(template: Any) -> None:  # noqa: ANN401
    """Its own taint among them."""
    assert template["spec"]["nodeSelector"] == {"gpu-lab/device-plugin": "true"}
    assert template["spec"]["tolerations"] == [{"operator": "Exists"}]


def test_deploying_labels_and_taints_nodes_and_applies_objects(
    client: Client, api: FakeApi
) -> None:
    """A node outside of the fleet is left alone."""
    deploy(client, fleet(Pool("a", 1, GPU, 2, taint=True)), "image:1", TOKEN)
    labels = api.nodes["w1"]["metadata"]["labels"]
    assert (labels["gpu-lab/device-plugin"], labels["gpu-lab/pool"]) == ("true", "a")
    taint = {"key": GPU, "value": "present", "effect": "NoSchedule"}
    assert api.nodes["w1"]["spec"]["taints"] == [taint]
    applied = [each.path for each in api.requests if "/namespaces/" in each.path]
    assert applied == [SECRET, CONFIG_MAP, DAEMON_SET]
    assert api.nodes["w2"] == node("w2")


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(fleet(Pool("b", 1, GPU, 2, node_names=("w2",))), id="on another node"),
        pytest.param(fleet(Pool("a", 1, GPU, 2)), id="without the taint"),
    ],
)
def test_what_an_earlier_fleet_put_on_nodes_is_taken_back(
    client: Client, api: FakeApi, later: Fleet
) -> None:
    """The node is as if the later fleet had been the first."""
    earlier = fleet(Pool("a", 1, GPU, 2, taint=True))
    deploy(client, earlier, "image:1", TOKEN)
    withdraw(client, earlier, later)
    assert api.nodes["w1"]["spec"]["taints"] == []
    stays = any(each.node_name == "w1" for each in later.nodes())
    assert ("gpu-lab/device-plugin" in api.nodes["w1"]["metadata"]["labels"]) == stays


def test_same_fleet_takes_nothing_back(client: Client, api: FakeApi) -> None:
    """An `up` on a lab that is up to date does not make its pods move."""
    same = fleet(Pool("a", 1, GPU, 2, taint=True))
    deploy(client, same, "image:1", TOKEN)
    asked = len(api.requests)
    withdraw(client, same, same)
    assert len(api.requests) == asked


def test_wanted_is_told_by_node_and_resource() -> None:
    """Pools that share a node add their resources to it."""
    shared = Pool("b", 1, NPU, 8, node_names=("w1",))
    wanted = wanted_by(fleet(Pool("a", 1, GPU, 2, node_names=("w1",)), shared))
    assert wanted == {"w1": {GPU: 2, NPU: 8}}


def test_wait_ends_with_the_devices(client: Client, api: FakeApi, step: Step) -> None:
    """No more is asked then."""
    api.add(node("w1", devices=2))
    wait_for_allocatable(client, fleet(), 30, step, "t-lab")
    assert len(api.requests) == 1


@pytest.mark.parametrize("devices", [0, 1, 3])
def test_wait_in_vain_says_what_was_last_seen(
    client: Client, api: FakeApi, step: Step, devices: int
) -> None:
    """Too few, and too many: an earlier fleet's devices are not this one's."""
    api.add(node("w1", devices=devices))
    with pytest.raises(TimedOut) as raised:
        wait_for_allocatable(client, fleet(), 0.1, step, "t-lab")
    error = raised.value
    assert error.what == "the devices did not become allocatable within 0.1 s"
    assert error.where == "w1"
    assert error.seen == f"w1: {GPU} {devices} of 2\nthere is no pod of the plugin"
    assert error.commands[0] == "gpulab logs --name t-lab"


def test_wait_in_vain_quotes_the_plugin(client: Client, api: FakeApi, step: Step) -> None:
    """Of several pods, the one that is not ready has something to say."""
    crash = {"reason": "CrashLoopBackOff"}
    api.pods = [pod("good", "w2"), pod("bad", "w1", waiting=crash)]
    api.logs = {"bad": "no such node in the fleet\n", "good": "all is well\n"}
    with pytest.raises(TimedOut) as raised:
        wait_for_allocatable(client, fleet(), 0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[1:] == [
        "pod bad on w1: Pending CrashLoopBackOff",
        "pod good on w2: Running",
        "no such node in the fleet",
    ]


def test_pod_without_a_log_does_not_hide_that_time_is_up(
    client: Client, api: FakeApi, step: Step
) -> None:
    """Its image is missing, say; the server's answer to that is quoted instead."""
    api.pods = [pod("bad", "w1", waiting={"reason": "ErrImageNeverPull"})]
    with pytest.raises(TimedOut) as raised:
        wait_for_allocatable(client, fleet(), 0.1, step, "t-lab")
    assert raised.value.seen.splitlines()[-2:] == [
        "pod bad on w1: Pending ErrImageNeverPull",
        'container "c" in pod "bad" is waiting to start',
    ]


def test_node_that_is_not_ready_keeps_a_lab_from_being_ready(client: Client, api: FakeApi) -> None:
    """Also one outside of the fleet, such as the control plane: `up` and `status` say the same."""
    api.add(node("t-lab-control-plane", ready=False), node("t-lab-worker", devices=2))
    placed = Fleet.default().placed_on(["t-lab-worker"])
    assert missing(client.nodes(), placed) == ["t-lab-control-plane: the node is not Ready"]


@pytest.mark.parametrize(("count", "memory"), [(2, "50Mi"), (20_000, "70Mi"), (74_898, "124Mi")])
def test_memory_of_the_plugin_grows_with_its_devices(count: int, memory: str) -> None:
    """The chapter's 50 MiB hold for any usual count; a huge one must not be killed for it."""
    fleet = Fleet((Pool("a", 1, GPU, count, node_names=("w",)),))
    *_, daemon_set = manifests(fleet, "plugin:1", TOKEN)
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == memory
    assert container["resources"]["requests"]["memory"] == memory
