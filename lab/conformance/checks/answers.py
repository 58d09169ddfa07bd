"""What Allocate answers: variables, mounts, device files, names in CDI."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.cdi.names import ANNOTATION_PREFIX, broken_device_rule, broken_kind_rule
from lab.conformance.check import Failed, NotApplicable, check
from lab.conformance.checks.allocation import count
from lab.conformance.trial import Trial
from lab.core.counted import counted

_PERMISSIONS: Final = frozenset("rwm")


def _answer(trial: Trial) -> ContainerAllocateResponse:
    (device, *_) = trial.healthy()
    with trial.calls() as calls:
        answer = calls.allocate([device])
    count(answer, 1)
    return answer.container_responses[0]


def _refuse_relative(kind: str, paths: Iterable[str]) -> None:
    for path in paths:
        if not PurePosixPath(path).is_absolute():
            raise Failed(f"the {kind} {path!r} is not absolute")


@check(
    "answer-envs",
    "sets variables that can be set",
    why="A name that is empty or holds a '=' or a NUL makes no variable: the runtime fails, or "
    "sets another one.",
    source="pod_devices.go: deviceRunContainerOptions",
    needs=("allocate-again",),
)
def answer_envs(trial: Trial) -> str:
    """Look at the names and values of variables."""
    envs = _answer(trial).envs
    if not envs:
        raise NotApplicable("there are none")
    for name, value in sorted(envs.items()):
        if not name or "=" in name or "\0" in name + value:
            raise Failed(f"the variable {name!r} with the value {value!r}")
    return ", ".join(sorted(envs))


@check(
    "answer-mounts",
    "mounts by absolute paths",
    why="A runtime refuses a container path that is not absolute, and takes a host path from a "
    "folder of its own: the container is not created.",
    source="pod_devices.go: deviceRunContainerOptions",
    needs=("allocate-again",),
)
def answer_mounts(trial: Trial) -> str:
    """Look at both paths of each mount."""
    mounts = _answer(trial).mounts
    if not mounts:
        raise NotApplicable("there are none")
    _refuse_relative("container path", (each.container_path for each in mounts))
    _refuse_relative("host path", (each.host_path for each in mounts))
    return counted(len(mounts), "mount")


@check(
    "answer-devices",
    "gives device files, with letters of rwm",
    why="The permissions go to the container's cgroup letter by letter. The kubelet checks none: "
    "with a wrong letter, or none, the file is there and cannot be opened.",
    source="pod_devices.go: deviceRunContainerOptions",
    needs=("allocate-again",),
)
def answer_devices(trial: Trial) -> str:
    """Look at paths and permissions of each device file."""
    devices = _answer(trial).devices
    if not devices:
        raise NotApplicable("there are none")
    _refuse_relative("container path", (each.container_path for each in devices))
    _refuse_relative("host path", (each.host_path for each in devices))
    for each in devices:
        letters = set(each.permissions)
        if not letters or letters - _PERMISSIONS or len(letters) < len(each.permissions):
            raise Failed(f"permissions {each.permissions!r} of {each.container_path}")
    return counted(len(devices), "device file")


@check(
    "answer-cdi",
    "names CDI devices in full",
    why="The runtime looks a name up as vendor/class=device. Any other is an unresolvable device, "
    "and the container stays in CreateContainerError.",
    source="pkg/parser/parser.go of cncf-tags/container-device-interface",
    needs=("allocate-again",),
)
def answer_cdi(trial: Trial) -> str:
    """Look at the names in the field of CDI devices, and in annotations for older runtimes."""
    answer = _answer(trial)
    names = [each.name for each in answer.cdi_devices]
    for key, value in answer.annotations.items():
        if key.startswith(ANNOTATION_PREFIX):
            names += value.split(",")
    if not names:
        raise NotApplicable("there are none")
    for name in names:
        kind, _, device = name.partition("=")
        if rule := broken_kind_rule(kind) or broken_device_rule(device):
            raise Failed(f"the name {name!r} {rule}")
    return ", ".join(names)
