"""What is seen of a plugin in a cluster, and what is left there of it."""

from collections.abc import Callable
from io import StringIO
from typing import Final

import pytest

from lab.cli.console import PlainProgress
from lab.cluster.access import NotOffered
from lab.conformance.check import Result, Verdict
from lab.conformance.examination import results
from lab.conformance.in_cluster.checks import IN_CLUSTER
from lab.conformance.in_cluster.manifests import daemon_set
from lab.conformance.in_cluster.trial import ClusterTrial
from lab.core.errors import UsageError
from lab.install.backend import Image
from tests.unit.conformance.cluster import NODE, RESOURCE, FakeCluster

IMAGE: Final = Image("my-plugin:1", pulled=True)
#: A failing wait is as long as this.
SECONDS: Final = 0.3


def tried(
    cluster: FakeCluster,
    *,
    resource: str = "",
    restart_kubelet: Callable[[], None] | None = None,
) -> dict[str, Result]:
    """Make all checks in a cluster, and return the results by check; the plugin is gone then."""
    trial = ClusterTrial(
        cluster,
        NODE,
        IMAGE,
        (),
        restart_kubelet=restart_kubelet or cluster.restart_kubelet,
        resource=resource,
        seconds=SECONDS,
    )
    with PlainProgress(StringIO()).step("") as step:
        try:
            found, _ = results(trial, IN_CLUSTER, step)
        finally:
            trial.close()
    assert cluster.found == []
    return {each.rule.id: each for each in found}


def failures(found: dict[str, Result]) -> list[str]:
    """Return the checks that failed."""
    return [name for name, each in found.items() if each.verdict is Verdict.FAILED]


def test_a_plugin_that_works_passes_all() -> None:
    """The resource is found, and pods have its devices."""
    found = tried(FakeCluster())
    assert {each.verdict for each in found.values()} == {Verdict.PASSED}
    assert found["allocatable"].seen == f"2 of {RESOURCE}"
    assert found["pod-gets-device"].seen == "pod gpulab-conform-1 runs with gpu-0"
    assert found["pods-at-once"].seen == "2 pods"


def test_one_device_is_enough_for_all_but_two_pods() -> None:
    """The second pod is not applicable; no other check wants one."""
    found = tried(FakeCluster(devices=1))
    left_out = [name for name, each in found.items() if each.verdict is Verdict.NOT_APPLICABLE]
    assert (failures(found), left_out) == ([], ["pods-at-once"])


@pytest.mark.parametrize(
    ("fault", "check", "seen"),
    [
        ("no-image", "pod-runs", "pod plugin-1: Pending ErrImagePull: not found"),
        (
            "registers-nothing",
            "allocatable",
            "the node has no new resource; pod plugin-1: Running\nthe last of 5 lines",
        ),
        (
            "no-device-file",
            "pod-gets-device",
            "pod gpulab-conform-1 is Pending: CreateContainerError: no /dev/gpu",
        ),
        (
            "deaf",
            "cluster-kubelet-restart",
            "the node shows 0 of 2; pod plugin-1: Running\nthe last of 5 lines",
        ),
        (
            "ends-pods",
            "cluster-kubelet-restart",
            "pods that had devices do not run any more: gpulab-conform-1, gpulab-conform-2",
        ),
        (
            "does-not-come-back",
            "plugin-pod-deleted",
            "there is no pod of the DaemonSet gpulab-conform",
        ),
    ],
)
def test_a_fault_fails_its_check(fault: str, check: str, seen: str) -> None:
    """With what the cluster says of it."""
    found = tried(FakeCluster(fault))
    assert failures(found) == [check]
    assert found[check].seen == seen


def test_a_pod_that_is_rejected_is_told_with_the_kubelets_words() -> None:
    """A plugin that keeps accounts gives nothing the second time."""
    found = tried(FakeCluster("keeps-accounts", devices=4))
    assert failures(found)[0] == "pods-at-once"
    words = "is Failed: UnexpectedAdmissionError: that one is taken"
    assert found["pods-at-once"].seen.endswith(words)


def test_a_cluster_that_restarts_no_kubelet_leaves_that_out() -> None:
    """With the reason of the backend."""

    def refuse() -> None:
        raise NotOffered("existing", "restart_kubelet", why="no", instead="")

    found = tried(FakeCluster(), restart_kubelet=refuse)["cluster-kubelet-restart"]
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.seen == "the backend 'existing' cannot restart a kubelet"


def test_a_resource_that_does_not_come_is_not_another_one() -> None:
    """Where a resource is asked for, it is that which is waited for."""
    found = tried(FakeCluster(), resource="example.com/other")
    assert failures(found) == ["allocatable"]


def test_a_node_that_has_the_resource_is_refused() -> None:
    """Two plugins of one resource on a node would be in each other's way."""
    cluster = FakeCluster(allocatable={RESOURCE: 3})
    with pytest.raises(UsageError, match="another plugin gives out example") as refused:
        tried(cluster, resource=RESOURCE)
    assert refused.value.where == NODE
    assert cluster.applied == []


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
