"""How every container is told of its devices, whatever their vendor: variables of the lab's own.

    GPULAB_VISIBLE_DEVICES=GPU-…,GPU-…
    GPULAB_VISIBLE_DEVICES_NVIDIA_COM_GPU=GPU-…,GPU-…

The kubelet asks for each resource of a container apart, and where two answers set one variable it
keeps either, so the short name is right only in a container with one resource. The long one is
always right.

A node of the lab has no files of accelerators: each device file in a container is the node's
/dev/null, at the path where the real one would be.
"""

from collections.abc import Iterable
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import DeviceSpec
from fake_plugin.device import Device
from fake_plugin.errors import WrongUse
from fake_plugin.plan import Answering, Share

NULL: Final = "/dev/null"
#: Has the devices of a container with one resource.
VARIABLE: Final = "GPULAB_VISIBLE_DEVICES"


def variables(resource: str, names: Iterable[str]) -> dict[str, str]:
    """Return the variables that name a container's devices of one resource."""
    value = ",".join(names)
    return {VARIABLE: value, variable_of(resource): value}


def variable_of(resource: str) -> str:
    """Return the name of the variable that is the resource's own."""
    suffix = "".join(letter if letter.isalnum() else "_" for letter in resource)
    return f"{VARIABLE}_{suffix.upper()}"


def units(devices: Iterable[Device]) -> list[str]:
    """Return the names of the hardware behind devices, each once, in their order."""
    return list(dict.fromkeys(device.unit for device in devices))


def refuse_strategies(share: Share) -> None:
    """Refuse what NVIDIA's plugin alone can be told of its answers; raises `WrongUse`."""
    plain = Answering(replica_policy=share.answering.replica_policy)
    if share.answering != plain:
        raise WrongUse(
            "device list strategies and the like are settings of NVIDIA's plugin",
            where=f"pool {share.pool}",
            seen=share.accelerator.name if share.accelerator else "",
            remedy="leave out all of answering but sharedDevicesAllocationPolicy",
            key=("answering",),
        )


def files(paths: Iterable[str]) -> list[DeviceSpec]:
    """Return what puts a device file at each of the paths, at each one once."""
    return [
        DeviceSpec(host_path=NULL, container_path=path, permissions="rw")
        for path in dict.fromkeys(paths)
    ]
