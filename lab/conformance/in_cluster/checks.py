"""What can be seen of a plugin in a cluster, in the order in which it is looked at."""

import time
from typing import Final

from lab.cluster.access import NotOffered
from lab.conformance.check import Check, Failed, NotApplicable, check
from lab.conformance.in_cluster.trial import ClusterTrial

#: Pods at once; a node may have thousands of devices.
_MOST_PODS: Final = 4


@check(
    "pod-runs",
    "runs as a pod",
    why="A plugin that ends is started again, after pauses of up to five minutes in which nothing "
    "of what it does next is seen.",
    source="https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy",
)
def pod_runs(trial: ClusterTrial) -> str:
    """Deploy the plugin, and wait for its container."""
    trial.deploy()
    if not trial.wait(lambda: any(map(trial.runs, trial.plugins()))):
        raise Failed(trial.words_of_plugin())
    (pod,) = trial.plugins()
    return f"pod {pod.name}"


@check(
    "allocatable",
    "has its devices on the node",
    why="The scheduler knows of devices what the node shows. What does not come there was refused "
    "by the kubelet, or never listed: the checks of a process say which.",
    source="manager.go: GetCapacity",
    needs=("pod-runs",),
)
def allocatable(trial: ClusterTrial) -> str:
    """Wait for a resource that the node did not have."""
    if not trial.wait(trial.new_resource):
        raise Failed(f"the node has no new resource; {trial.words_of_plugin()}")
    trial.resource = trial.new_resource()
    trial.count = trial.allocatable()
    return f"{trial.count} of {trial.resource}"


@check(
    "pod-gets-device",
    "gives a pod a device",
    why="Here the answer to Allocate meets a runtime: a device file or CDI device that is not on "
    "the node keeps the container from being created.",
    source="pod_devices.go: deviceRunContainerOptions",
    needs=("allocatable",),
)
def pod_gets_device(trial: ClusterTrial) -> str:
    """Start a pod that asks for a device."""
    pod = trial.add_user()
    ids = [each for one in pod.containers for each in one.devices.get(trial.resource, ())]
    return f"pod {pod.name} runs" + (f" with {', '.join(ids)}" if ids else "")


@check(
    "pods-at-once",
    "gives pods devices side by side",
    why="Each gets others: a plugin that answers for one device what it answers for another lets "
    "pods disturb each other, or fails from the second on.",
    source="manager.go: devicesToAllocate",
    needs=("pod-gets-device",),
)
def pods_at_once(trial: ClusterTrial) -> str:
    """Start pods for further devices beside the one that runs."""
    number = min(trial.count, _MOST_PODS) - 1
    if number < 1:
        raise NotApplicable("there is one device")
    for _ in range(number):
        trial.add_user()
    return f"{number + 1} pods"


def _comes_back(trial: ClusterTrial, since: float) -> str:
    """Wait for all devices; raise `Failed` where they do not come, or a pod does not run on."""
    if not trial.wait(lambda: trial.allocatable() == trial.count):
        raise Failed(
            f"the node shows {trial.allocatable()} of {trial.count}; {trial.words_of_plugin()}"
        )
    if ended := [each.name for each in trial.users() if not trial.runs(each)]:
        raise Failed(f"pods that had devices do not run any more: {', '.join(ended)}")
    return f"{trial.count} again, {time.monotonic() - since:.1f} s after"


@check(
    "cluster-kubelet-restart",
    "is there again after the kubelet has restarted",
    why="The kubelet comes back without plugins and without their sockets. Until they register "
    "anew, pods that are admitted fail for good.",
    source="manager.go: CleanupPluginDirectory; kubernetes/kubernetes#125579",
    needs=("allocatable",),
)
def kubelet_restart(trial: ClusterTrial) -> str:
    """Restart the kubelet of the node, with pods that have devices on it."""
    try:
        trial.restart_kubelet()
    except NotOffered as reason:
        raise NotApplicable(reason.what) from reason
    began = time.monotonic()
    told = _comes_back(trial, began)
    if len(trial.users()) in {0, trial.count}:
        return told
    # What the node shows first is what the old kubelet said; that a device is given is newer.
    refused = ""

    def is_given() -> bool:
        nonlocal refused
        try:
            trial.add_user()
        except Failed as failure:
            refused = str(failure)
            return False
        return True

    if not trial.wait(is_given):
        raise Failed(refused)
    return f"{told}; a pod got one after {time.monotonic() - began:.1f} s"


@check(
    "plugin-pod-deleted",
    "is there again after its pod was replaced",
    why="A rolling update is this on every node. Old and new socket, old and new stream meet in "
    "the kubelet; pods that have devices run on meanwhile.",
    source="manager.go: PluginDisconnected; kubernetes/kubernetes#121994",
    needs=("allocatable",),
)
def plugin_pod_deleted(trial: ClusterTrial) -> str:
    """Delete the plugin's pod, and wait for another one."""
    began = time.monotonic()
    old = trial.delete_plugin()

    def is_replaced() -> bool:
        return any(trial.runs(each) and each.uid != old.uid for each in trial.plugins())

    if not trial.wait(is_replaced):
        raise Failed(trial.words_of_plugin())
    return _comes_back(trial, began)


@check(
    "device-again",
    "gives the devices again when their pods are gone",
    why="No call says that a pod is over. The plugin that was just replaced has to serve devices "
    "that another life of it gave away.",
    source="manager.go: UpdateAllocatedDevices",
    needs=("pod-gets-device", "plugin-pod-deleted"),
)
def device_again(trial: ClusterTrial) -> str:
    """Take all devices back, and start a pod for one."""
    trial.remove_users()
    return f"pod {trial.add_user().name} runs"


IN_CLUSTER: Final[tuple[Check[ClusterTrial], ...]] = (
    pod_runs,
    allocatable,
    pod_gets_device,
    pods_at_once,
    kubelet_restart,
    plugin_pod_deleted,
    device_again,
)
