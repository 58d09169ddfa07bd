"""The devices of a pool as the plugin's CDI specs describe them.

The kinds are those of the plugin, so they do not meet the specs of the container toolkit, whose
vendor is nvidia.com (cmd/nvidia-device-plugin/plugin-manager.go). As in a spec of NVIDIA's, any
device brings the driver's files along, and a variable that keeps other runtimes from acting.
"""

from collections.abc import Iterable
from typing import Final

from fake_plugin.cdi.devices import CdiDevices
from fake_plugin.cdi.spec import DeviceNode, Edits
from fake_plugin.device import Device
from fake_plugin.plan import Share
from fake_plugin.vendors import visible
from fake_plugin.vendors.nvidia.hardware import CONTROL_FILES, files_of
from fake_plugin.vendors.nvidia.naming import CDI_CLASS, CDI_VENDOR, extras, name_of

#: What each extra is known by.
_FILES: Final = {
    "gdrcopy": "/dev/gdrdrv",
    "gds": "/dev/nvidia-fs0",
    "mofed": "/dev/infiniband/rdma_cm",
}


def cdi_devices(share: Share, devices: Iterable[Device]) -> tuple[CdiDevices, ...]:
    """Return what is to be published of these devices."""
    how = share.answering
    named = {name_of(how, device): device for device in devices}
    gpus = {name: Edits(device_nodes=_nodes(files_of(share, each))) for name, each in named.items()}
    common = Edits(env=("NVIDIA_VISIBLE_DEVICES=void",), device_nodes=_nodes(CONTROL_FILES))
    return (
        CdiDevices(CDI_VENDOR, CDI_CLASS, gpus, common),
        *(
            CdiDevices(CDI_VENDOR, name, {"all": Edits(device_nodes=_nodes([_FILES[name]]))})
            for name in extras(how)
            if gpus
        ),
    )


def _nodes(paths: Iterable[str]) -> tuple[DeviceNode, ...]:
    return tuple(DeviceNode(path, host_path=visible.NULL) for path in paths)
