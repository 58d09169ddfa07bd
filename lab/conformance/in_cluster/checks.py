"""What can be seen of a plugin in a cluster, in the order in which it is looked at."""

import time
from collections import Counter
from typing import Final

from lab.cluster.access import NotOffered
from lab.cluster.objects import Pod
from lab.conformance.check import Check, Failed, NotApplicable, check
from lab.conformance.checks.listing import shown
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
    return f"pod {', '.join(each.name for each in trial.plugins())}"


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
    ids = _ids(pod, trial)
    return f"pod {pod.name} runs" + (f" with {', '.join(ids)}" if ids else "")


def _ids(pod: Pod, trial: ClusterTrial) -> list[str]:
    return [each for one in pod.containers for each in one.devices.get(trial.resource, ())]


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
    _refuse_interrupted(trial)
    held = [_ids(each, trial) for each in trial.users()]
    if not all(held):
        raise NotApplicable(f"{number + 1} pods run, and the kubelet tells nobody their devices")
    counted = Counter(each for ids in held for each in ids)
    if shared := [each for each, pods in counted.items() if pods > 1]:
        raise Failed(f"{counted[shared[0]]} pods have {shown(shared)}")
    return f"{number + 1} pods, each with others"


def _refuse_interrupted(trial: ClusterTrial) -> None:
    if ended := trial.interrupted():
        raise Failed(f"pods that had devices do not run any more: {', '.join(ended)}")


def _comes_back(trial: ClusterTrial, since: float) -> str:
    """Wait until the node has all devices and gives one; raise `Failed` where it does not.

    It fails as well where a pod that had a device has ended meanwhile.
    """

    def look_at_node() -> None:
        if not trial.wait(lambda: trial.allocatable() == trial.count):
            number, words = trial.allocatable(), trial.words_of_plugin()
            raise Failed(f"the node shows {number} of {trial.count}; {words}")

    look_at_node()
    _refuse_interrupted(trial)
    # What it shows may be what it was told before: that a device is given is newer.
    if refused := trial.why_none_is_given():
        look_at_node()
        raise Failed(f"the node shows {trial.count}, and gives none: {refused}")
    seconds = time.monotonic() - since
    # One that is given says nothing of the others.
    trial.see_report()
    look_at_node()
    _refuse_interrupted(trial)
    return f"{trial.count} again, and one was given, {seconds:.1f} s after"


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
    return _comes_back(trial, time.monotonic())


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
        pods = trial.plugins(terminating=True)
        return any(map(trial.runs, pods)) and old.uid not in {each.uid for each in pods}

    # As long as the old one ends, it may be the one that gives devices.
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
