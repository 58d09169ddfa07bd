"""What a trial in a cluster does there: to the plugin's pod, and to those that have devices."""

import pytest

from lab.conformance.check import Failed
from lab.conformance.in_cluster.manifests import daemon_set, user
from lab.conformance.in_cluster.trial import ClusterTrial
from lab.core.errors import Interrupted
from lab.install.backend import Image
from tests.unit.conformance.cluster import NODE, RESOURCE, FakeCluster, FakeTime, Manifest
from tests.unit.conformance.cluster_trial import IMAGE, SECONDS, trial_in, tried


def test_a_plugin_whose_pod_ends_already_cannot_be_replaced() -> None:
    """It is the next one that counts."""
    trial = trial_in(FakeCluster())
    trial.deploy()
    assert trial.wait(trial.plugins)
    trial.delete_plugin()
    with pytest.raises(Failed, match="there is no pod of the DaemonSet gpulab-conform"):
        trial.delete_plugin()


def test_an_interruption_is_no_log_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks for an end gets it."""
    cluster = FakeCluster()
    trial = trial_in(cluster)
    trial.deploy()
    assert trial.wait(trial.plugins)

    def interrupt(*_: object, **__: object) -> str:
        raise Interrupted("interrupted")

    monkeypatch.setattr(cluster, "logs", interrupt)
    with pytest.raises(Interrupted):
        trial.words_of_plugin()


@pytest.mark.parametrize(
    ("devices", "beside"),
    [(1, [0, 0, 0, 0]), (4, [0, 1, 2, 3, 3, 3, 0]), (6, [0, 1, 2, 3, 4, 4, 0])],
)
def test_no_pod_ends_for_another_unless_there_is_no_device_for_it(
    devices: int, beside: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that run are looked at over restarts; in the end all devices are taken back first."""
    cluster = FakeCluster(devices=devices)
    found: list[int] = []
    create = cluster.create

    def counting(manifest: Manifest) -> None:
        found.append(len(cluster.users()))
        create(manifest)

    monkeypatch.setattr(cluster, "create", counting)
    tried(cluster)
    assert found == beside


def on_a_node(cluster: FakeCluster) -> ClusterTrial:
    """Return a trial whose plugin has its devices on the node."""
    trial = trial_in(cluster)
    trial.deploy()
    assert trial.wait(trial.new_resource)
    trial.resource = trial.new_resource()
    return trial


def test_pods_that_are_removed_have_gone() -> None:
    """They hold their devices to the end."""
    cluster = FakeCluster()
    trial = on_a_node(cluster)
    trial.add_user()
    trial.remove_users()
    assert cluster.users() == []


def test_a_pod_that_was_refused_is_not_waited_for(time: FakeTime) -> None:
    """A kubelet does not take it back."""
    trial = on_a_node(FakeCluster("keeps-accounts", devices=4))
    trial.add_user()
    began = time.monotonic()
    with pytest.raises(Failed, match="UnexpectedAdmissionError: that one is taken"):
        trial.add_user()
    assert time.monotonic() - began < SECONDS


def test_a_pod_that_somebody_has_taken_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name: nothing is known of it any more."""
    cluster = FakeCluster()
    trial = on_a_node(cluster)
    monkeypatch.setattr(cluster, "create", lambda _: None)
    with pytest.raises(Failed, match="the pod gpulab-conform-1 is gone"):
        trial.add_user()


def test_a_pod_asks_for_one_device_of_the_node_whatever_its_taints() -> None:
    """It goes at once where it is deleted: nobody waits for its end thirty seconds."""
    spec = user(1, NODE, RESOURCE)["spec"]
    assert spec["nodeSelector"] == {"kubernetes.io/hostname": NODE}
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["terminationGracePeriodSeconds"] == 0
    assert [each["resources"] for each in spec["containers"]] == [{"limits": {RESOURCE: "1"}}]


@pytest.mark.parametrize(
    ("image", "policy"), [(IMAGE, "IfNotPresent"), (Image("localhost/x:1"), "Never")]
)
def test_the_plugin_runs_on_one_node_and_finds_both_folders(image: Image, policy: str) -> None:
    """It is pulled where it was not put into the node."""
    pod = daemon_set(image, ("run", "it"), NODE)["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/hostname": NODE}
    (container,) = pod["containers"]
    assert (container["image"], container["imagePullPolicy"]) == (image.reference, policy)
    assert container["command"] == ["run", "it"]
    assert [each["mountPath"] for each in container["volumeMounts"]] == [
        "/var/lib/kubelet/device-plugins",
        "/var/lib/kubelet/plugins_registry",
    ]
    assert "command" not in daemon_set(image, (), NODE)["spec"]["template"]["spec"]["containers"][0]
