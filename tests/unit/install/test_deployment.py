"""What is put into a cluster for the device plugin."""

from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.cluster.client import Client
from lab.core.fleet import Fleet, Pool, load_fleet
from lab.install.backend import Image
from lab.install.deployment import CONTROL_PORT, deploy, manifests, withdraw
from tests.unit.stand_ins.api_server import GPU, FakeApi, node, serving

DAEMON_SET = "/apis/apps/v1/namespaces/kube-system/daemonsets/fake-gpu-device-plugin"
IMAGE = Image("image:1")
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
def template() -> Any:  # noqa: ANN401 - a manifest
    """Return the pods' template."""
    return manifests(fleet(), IMAGE, TOKEN)[2]["spec"]["template"]


@pytest.fixture
def container(template: Any) -> Any:  # noqa: ANN401 - a manifest
    """Return the pods' only container."""
    (only,) = template["spec"]["containers"]
    return only


def test_image_and_fleet_are_filled_in(container: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """The plugin reads the fleet that `up` has placed, from the very same form."""
    _, config_map, _ = manifests(fleet(), IMAGE, TOKEN)
    (tmp_path / "fleet.yaml").write_text(config_map["data"]["fleet.yaml"])
    assert load_fleet(tmp_path / "fleet.yaml") == fleet()
    assert container["image"] == "image:1"
    assert container["imagePullPolicy"] == "Never"


def test_token_comes_as_a_file_that_can_be_replaced(template: Any, container: Any) -> None:  # noqa: ANN401
    """In a variable it would be of the pod's start; a Secret's file follows the Secret."""
    secret, *_ = manifests(fleet(), IMAGE, TOKEN)
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
    same = manifests(fleet(), IMAGE, TOKEN)[2]["spec"]["template"]
    other = manifests(fleet(Pool("a", 1, GPU, 3)), IMAGE, TOKEN)[2]["spec"]["template"]
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
    deploy(client, fleet(Pool("a", 1, GPU, 2, taint=True)), IMAGE, TOKEN)
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
    deploy(client, earlier, IMAGE, TOKEN)
    withdraw(client, earlier, later)
    assert api.nodes["w1"]["spec"]["taints"] == []
    stays = any(each.node_name == "w1" for each in later.nodes())
    assert ("gpu-lab/device-plugin" in api.nodes["w1"]["metadata"]["labels"]) == stays


def test_same_fleet_takes_nothing_back(client: Client, api: FakeApi) -> None:
    """An `up` on a lab that is up to date does not make its pods move."""
    same = fleet(Pool("a", 1, GPU, 2, taint=True))
    deploy(client, same, IMAGE, TOKEN)
    asked = len(api.requests)
    withdraw(client, same, same)
    assert len(api.requests) == asked


@pytest.mark.parametrize(("count", "memory"), [(2, "50Mi"), (20_000, "70Mi"), (74_898, "124Mi")])
def test_memory_of_the_plugin_grows_with_its_devices(count: int, memory: str) -> None:
    """The chapter's 50 MiB hold for any usual count; a huge one must not be killed for it."""
    fleet = Fleet((Pool("a", 1, GPU, count, node_names=("w",)),))
    *_, daemon_set = manifests(fleet, IMAGE, TOKEN)
    (container,) = daemon_set["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["memory"] == memory
    assert container["resources"]["requests"]["memory"] == memory
