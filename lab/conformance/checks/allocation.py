"""Allocate: who gets what, and who is refused."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import AllocateResponse
from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.trial import Trial
from lab.core.counted import counted
from lab.embedded.kubelet.connection import PluginError

#: No plugin has a device of that name.
_UNKNOWN: Final = "gpulab-conform-no-such-device"
_AT_ONCE: Final = 8


def count(answer: AllocateResponse, wanted: int) -> str:
    """Say how many container responses there are; raise `Failed` where others were asked for."""
    number = len(answer.container_responses)
    if number != wanted:
        requests = counted(wanted, "container request")
        raise Failed(f"{counted(number, 'container response')} to {requests}")
    return counted(number, "container response")


@check(
    "allocate",
    "answers Allocate with a container response",
    why="Without a container response the pod fails, and the kubelet counts the device as taken "
    "all the same: the next pod finds none.",
    source="manager.go: allocateContainerResources",
    needs=("first-list",),
)
def allocate(trial: Trial) -> str:
    """Ask for one device."""
    (device, *_) = trial.healthy()
    with trial.calls() as calls:
        return count(calls.allocate([device]), 1)


@check(
    "allocate-again",
    "gives a device again",
    why="No call says that a pod is over. The kubelet knows what is free; a plugin that keeps "
    "accounts of its own runs out of devices.",
    source="manager.go: UpdateAllocatedDevices",
    needs=("allocate",),
)
def allocate_again(trial: Trial) -> str:
    """Ask for one device twice."""
    (device, *_) = trial.healthy()
    with trial.calls() as calls:
        calls.allocate([device])
        return f"{count(calls.allocate([device]), 1)}, the second time"


@check(
    "allocate-several",
    "gives one container several devices",
    why="The kubelet reads the first container response and no other: devices in a second one "
    "never reach the container.",
    source="manager.go: allocateContainerResources",
    needs=("allocate-again",),
)
def allocate_several(trial: Trial) -> str:
    """Ask for two devices; a plugin may refuse that, as time-slicing does."""
    devices = trial.healthy(2)[:2]
    with trial.calls() as calls:
        try:
            answer = calls.allocate(devices)
        except PluginError as problem:
            raise NotApplicable(f"it gives no two devices to one container: {problem}") from None
    return count(answer, 1)


@check(
    "allocate-per-container",
    "answers every container request",
    why="The API gives a response per request, in their order. Kubelets so far send one request "
    "at a time; a plugin that counts on that breaks with the first that does not.",
    source="staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto: AllocateResponse",
    needs=("allocate-again",),
)
def allocate_per_container(trial: Trial) -> str:
    """Ask for one device for each of two containers."""
    first, second, *_ = trial.healthy(2)
    with trial.calls() as calls:
        return count(calls.allocate([first], [second]), 2)


@check(
    "allocate-unknown",
    "refuses a device that it does not have",
    why="The kubelet may ask for a device that has just gone. A container that starts without it "
    "fails far from the cause; a plugin that crashes takes all its devices off the node.",
    source="manager.go: allocateContainerResources",
    needs=("allocate-again",),
)
def allocate_unknown(trial: Trial) -> str:
    """Ask for a device that is on no list, and then for the options."""
    with trial.calls() as calls:
        try:
            calls.allocate([_UNKNOWN])
        except PluginError as problem:
            refusal = str(problem)
        else:
            raise Failed(f"it gave the device {_UNKNOWN!r}, which it never listed")
        try:
            calls.options()
        except PluginError:
            trial.rest()
            raise
    return refusal


@check(
    "allocate-concurrent",
    "answers several calls at once",
    why="A kubelet admits one pod at a time today, but one that was restarted may ask while a call "
    "of the one before is still on. A call that hangs holds up every pod of the node, those "
    "without devices too.",
    source="kubernetes/kubernetes#117435, #129249",
    needs=("allocate-again",),
)
def allocate_concurrent(trial: Trial) -> str:
    """Ask for devices from several threads."""
    devices = trial.healthy()
    wanted = [[devices[number % len(devices)]] for number in range(_AT_ONCE)]
    with trial.calls() as calls, ThreadPoolExecutor(_AT_ONCE) as pool:
        for answer in pool.map(calls.allocate, wanted):
            count(answer, 1)
    return f"{_AT_ONCE} at once"
