"""What a container starts with because of its devices: the plugins' answers, put together.

Source: devicemanager/pod_devices.go:deviceRunContainerOptions. None of it shows on the pod.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fake_plugin.api.deviceplugin_pb2 import DeviceSpec, Mount
from lab.embedded.kubelet.holdings import Holding
from lab.embedded.kubelet.selection import shuffled


@dataclass(frozen=True)
class RunOptions:
    """For the runtime. `envs` come before those of the pod, which win where both have a name.

    `devices` and `mounts` are by the path in the container.
    """

    envs: dict[str, str] = field(default_factory=dict)
    devices: dict[str, DeviceSpec] = field(default_factory=dict)
    mounts: dict[str, Mount] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    cdi_devices: tuple[str, ...] = ()


def run_options(holdings: Mapping[str, Holding], rng: random.Random) -> RunOptions:
    """Return what the answers of all resources of a container come to.

    Where two resources give the same name or path, the first counts, and which of them is the
    first is random: to the user it looks like a variable that now has this value, now that.
    """
    options = RunOptions()
    cdi_devices: dict[str, None] = {}
    for resource in shuffled(holdings, rng):
        answer = holdings[resource].answer
        for name, value in answer.envs.items():
            options.envs.setdefault(name, value)
        for device in answer.devices:
            options.devices.setdefault(device.container_path, device)
        for mount in answer.mounts:
            options.mounts.setdefault(mount.container_path, mount)
        for name, value in answer.annotations.items():
            options.annotations.setdefault(name, value)
        cdi_devices.update(dict.fromkeys(each.name for each in answer.cdi_devices))
    return replace(options, cdi_devices=tuple(cdi_devices))
