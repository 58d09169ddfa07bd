"""What is seen of a plugin in a cluster, and what is left there of it."""

from typing import Final

import pytest

from lab.cluster.access import NotOffered
from lab.cluster.connection import ApiFailed
from lab.conformance.check import Failed, Result, Verdict
from lab.conformance.in_cluster.clearing import Clearing
from lab.conformance.in_cluster.manifests import daemon_set_named
from lab.core.errors import CleanUpFailed, Interrupted, UsageError
from tests.unit.conformance.cluster import NODE, RESOURCE, FakeCluster
from tests.unit.conformance.cluster_trial import found_by, trial_in, tried

LEFT: Final = """\
something of the trial is left in the cluster
  where: the lab a-lab
  seen:  {seen}
  next:  remove it when the cluster answers; the next trial in this lab does so as well
         $ kubectl --kubeconfig /lab/kubeconfig delete daemonset gpulab-conform \
--namespace kube-system --ignore-not-found
         $ kubectl --kubeconfig /lab/kubeconfig delete pods --selector app=gpulab-conform-user \
--namespace default"""
GIVEN_UP: Final = "the node shows 2, and gives none: pod gpulab-conform-"


def failures(found: dict[str, Result]) -> list[str]:
    """Return the checks that failed."""
    return [name for name, each in found.items() if each.verdict is Verdict.FAILED]


def test_a_plugin_that_works_passes_all() -> None:
    """The resource is found, and pods have its devices."""
    found = tried(FakeCluster())
    assert {each.verdict for each in found.values()} == {Verdict.PASSED}
    assert found["allocatable"].seen == f"2 of {RESOURCE}"
    assert found["pod-gets-device"].seen == "pod gpulab-conform-1 runs with gpu-0"
    assert found["pods-at-once"].seen == "2 pods, each with others"


def test_of_many_devices_some_are_asked_for() -> None:
    """A node may have thousands, and a kubelet starts a pod or two in a second."""
    cluster = FakeCluster(devices=6)
    assert tried(cluster)["pods-at-once"].seen == "4 pods, each with others"


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
            "ends-again",
            "pod-runs",
            "pod plugin-1: Running CrashLoopBackOff: back-off 10s\nthe last of 5 lines",
        ),
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
        ("same-device", "pods-at-once", "2 pods have 'gpu-0'"),
        (
            "ends-others",
            "pods-at-once",
            "pods that had devices do not run any more: gpulab-conform-1",
        ),
        (
            "ends-pods-later",
            "cluster-kubelet-restart",
            "pods that had devices do not run any more: gpulab-conform-1",
        ),
    ],
)
def test_a_fault_fails_its_check(fault: str, check: str, seen: str) -> None:
    """With what the cluster says of it."""
    found = tried(FakeCluster(fault))
    assert failures(found) == [check]
    assert found[check].seen == seen


@pytest.mark.parametrize("lag", [1, 40])
@pytest.mark.parametrize("devices", [1, 2, 4, 6])
def test_a_plugin_that_does_not_register_again_fails(lag: int, devices: int) -> None:
    """However many devices pods have, and however late the node shows that there are none."""
    cluster = FakeCluster("registers-once", devices=devices, lag=lag)
    found = tried(cluster)
    assert failures(found) == ["plugin-pod-deleted"]
    assert found["plugin-pod-deleted"].seen.startswith(f"the node shows 0 of {devices}; pod plugin")


@pytest.mark.parametrize("lag", [1, 40])
def test_a_plugin_that_comes_back_with_fewer_devices_fails(lag: int) -> None:
    """However late the node shows it: one that is given says nothing of the others."""
    found = tried(FakeCluster("fewer-again", devices=4, lag=lag))
    assert failures(found) == ["plugin-pod-deleted"]
    assert found["plugin-pod-deleted"].seen.startswith("the node shows 3 of 4; pod plugin")


@pytest.mark.parametrize("devices", [1, 2, 4, 6])
def test_a_deaf_plugin_fails_however_late_the_node_reports(devices: int) -> None:
    """What is shown first is what the old kubelet knew."""
    found = tried(FakeCluster("deaf", devices=devices, lag=40))
    assert failures(found)[0] == "cluster-kubelet-restart"
    assert found["cluster-kubelet-restart"].seen.startswith(f"the node shows 0 of {devices}; pod")


def test_a_kubelet_that_admits_nobody_gives_no_devices() -> None:
    """It hangs, and the pod that is on its node is neither refused nor well."""
    found = tried(FakeCluster("hangs"))
    assert failures(found)[0] == "cluster-kubelet-restart"
    seen = found["cluster-kubelet-restart"].seen
    assert seen.startswith(GIVEN_UP)
    assert seen.endswith("is Pending: nothing is said")


@pytest.mark.parametrize("containers", [False, True])
def test_devices_that_are_shown_and_not_given_are_none(*, containers: bool) -> None:
    """A kubelet may not notice that a plugin has ended: the number stays what it was."""
    cluster = FakeCluster("unnoticed", rejected_have_containers=containers)
    found, problem = found_by(trial_in(cluster))
    assert failures(found) == ["plugin-pod-deleted"]
    seen = found["plugin-pod-deleted"].seen
    assert seen.startswith(GIVEN_UP)
    assert seen.endswith("is Failed: UnexpectedAdmissionError: no healthy devices present")
    assert isinstance(problem, CleanUpFailed)
    assert problem.seen == f"the node still shows 2 of {RESOURCE}"
    assert problem.commands[-1] == "gpulab node restart-kubelet node-1 --name a-lab"


def test_a_container_that_is_not_created_hides_no_other_failure() -> None:
    """The kubelet has given a device all the same, and that is what is looked for."""
    found = tried(FakeCluster("no-device-file"))
    assert found["plugin-pod-deleted"].seen.startswith("2 again, and one was given")


def test_a_kubelet_that_tells_no_devices_leaves_the_comparison_out() -> None:
    """Those before 1.36 do not."""
    found = tried(FakeCluster("tells-no-devices"))["pods-at-once"]
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert found.seen == "2 pods run, and the kubelet tells nobody their devices"


def test_what_a_killed_trial_has_left_is_removed_first() -> None:
    """Its pods would be in the way, and its devices another plugin's."""
    cluster = FakeCluster()
    first = trial_in(cluster)
    first.deploy()
    assert first.wait(first.new_resource)
    first.resource, first.count = first.new_resource(), 2
    first.add_user()
    found = tried(cluster, resource=RESOURCE)
    assert {each.verdict for each in found.values()} == {Verdict.PASSED}


def test_what_a_killed_trial_was_removing_is_waited_for() -> None:
    """Its plugin ends already, and the node shows the devices for a while yet."""
    cluster = FakeCluster(lag=10)
    first = trial_in(cluster)
    first.deploy()
    assert first.wait(first.new_resource)
    cluster.delete(daemon_set_named())
    found = tried(cluster, resource=RESOURCE)
    assert {each.verdict for each in found.values()} == {Verdict.PASSED}


def test_one_refusal_of_the_server_is_one_verdict() -> None:
    """The other checks are made, and told."""
    cluster = FakeCluster(refuses="create", refusals=1)
    found = tried(cluster)
    undecided = {name for name, each in found.items() if each.verdict is Verdict.UNDECIDED}
    assert undecided == {"pod-gets-device"}
    assert found["pod-gets-device"].seen == "the API server refused: create"
    assert found["plugin-pod-deleted"].verdict is Verdict.PASSED


def test_a_cluster_that_is_lost_ends_the_trial_with_what_was_found() -> None:
    """What is left there is told with what removes it."""
    cluster = FakeCluster()

    def lose() -> None:
        cluster.refuses = "get"

    found, problem = found_by(trial_in(cluster, restart_kubelet=lose))
    verdicts = [each.verdict for each in found.values()]
    assert verdicts == [Verdict.PASSED] * 4 + [Verdict.UNDECIDED] * 3
    assert found["device-again"].seen == "it was not made: the API server refused"
    assert isinstance(problem, CleanUpFailed)
    assert problem.render() == LEFT.format(seen="the API server refused: get")


def test_a_pod_that_is_not_taken_away_after_a_failure_ends_the_trial() -> None:
    """The next check would have a device less; why there is no more is told."""
    cluster = FakeCluster("no-device-file", refuses="delete default", refusals=1)
    found, problem = found_by(trial_in(cluster))
    assert found["plugin-pod-deleted"].verdict is Verdict.UNDECIDED
    assert found["plugin-pod-deleted"].seen == "it was not made: the API server refused"
    assert isinstance(problem, ApiFailed)
    assert (cluster.found, cluster.is_wanted) == ([], False)


def test_what_cannot_be_removed_keeps_nothing_else() -> None:
    """The privileged plugin goes where its users do not."""
    cluster = FakeCluster()
    trial = trial_in(cluster)
    cluster.refuses = "delete default"
    found, problem = found_by(trial)
    assert found["device-again"].verdict is Verdict.UNDECIDED
    assert isinstance(problem, CleanUpFailed)
    assert {each.namespace for each in cluster.found} == {"default"}
    assert cluster.is_wanted is False


def test_a_plugin_that_does_not_end_is_left_behind() -> None:
    """Nobody is told that all is well."""
    _, problem = found_by(trial_in(FakeCluster("does-not-end")))
    assert isinstance(problem, CleanUpFailed)
    assert "pods do not end within 60 s: plugin-" in problem.seen


@pytest.mark.parametrize("error", [Interrupted("interrupted"), ZeroDivisionError("a mistake")])
def test_what_ends_a_trial_removes_everything_all_the_same(error: Exception) -> None:
    """It is that which is told then, be it an interruption or a mistake of ours."""
    cluster = FakeCluster()

    def interrupt() -> None:
        raise error

    with pytest.raises(type(error)):
        found_by(trial_in(cluster, restart_kubelet=interrupt))
    assert (cluster.found, cluster.is_wanted) == ([], False)


def test_a_removal_that_is_interrupted_removes_the_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is privileged; what it was that ended the removal is told."""
    cluster = FakeCluster()
    trial = trial_in(cluster)
    trial.deploy()

    def interrupt(*_: object) -> None:
        raise Interrupted("interrupted")

    monkeypatch.setattr(Clearing, "remove_users", interrupt)
    with pytest.raises(Interrupted):
        trial.close()
    assert (cluster.found, cluster.is_wanted) == ([], False)


def test_a_plugin_without_a_pod_cannot_be_replaced() -> None:
    """Whoever has taken it away."""
    trial = trial_in(FakeCluster())
    with pytest.raises(Failed, match="there is no pod of the DaemonSet gpulab-conform"):
        trial.delete_plugin()


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


def test_devices_that_the_node_had_before_are_not_the_plugins() -> None:
    """As of the lab's own fleet, which stays where it is."""
    cluster = FakeCluster(allocatable={"a.example.com/device": 3})
    found = tried(cluster)
    assert {each.verdict for each in found.values()} == {Verdict.PASSED}
    assert found["allocatable"].seen == f"2 of {RESOURCE}"
    assert cluster.allocatable["a.example.com/device"] == 3


def test_a_node_that_has_the_resource_is_refused() -> None:
    """Two plugins of one resource on a node would be in each other's way."""
    cluster = FakeCluster(allocatable={RESOURCE: 3})
    with pytest.raises(UsageError, match="another plugin gives out example") as refused:
        tried(cluster, resource=RESOURCE)
    assert refused.value.where == NODE
    assert cluster.applied == []
