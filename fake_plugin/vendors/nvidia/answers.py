"""What Allocate returns for GPUs, by the plugin's device list strategies.

    envvar            NVIDIA_VISIBLE_DEVICES=GPU-…,GPU-…
    volume-mounts     NVIDIA_VISIBLE_DEVICES=/var/run/nvidia-container-devices, and there a mount of
                      /dev/null for each device
    cdi-annotations   cdi.k8s.io/nvidia-device-plugin_<uuid>: <kind>=GPU-…,<kind>=GPU-…
    cdi-cri           the same names, as CDI devices

Several may be set together. With none but those of CDI, nothing else is answered, as there
(internal/plugin/server.go). With the others, passDeviceSpecs adds device files, and gdrcopy, gds
and mofed a variable each.

An answer also has the lab's own variables (`fake_plugin.vendors.visible`) and what `Place` says.
Otherwise than in reality, a file that two devices share is named once, and of MPS a container gets
the variable and no mounts: no MPS daemon runs here, so there are no folders to mount.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fake_plugin.api.deviceplugin_pb2 import CDIDevice, ContainerAllocateResponse, Mount
from fake_plugin.cdi import names as cdi_names
from fake_plugin.device import Device
from fake_plugin.plan import Share
from fake_plugin.vendors import visible
from fake_plugin.vendors.nvidia.hardware import CONTROL_FILES, files_of
from fake_plugin.vendors.nvidia.naming import CDI_CLASS, CDI_VENDOR, extras, name_of
from fake_plugin.vendors.place import Place

_VARIABLE: Final = "NVIDIA_VISIBLE_DEVICES"
_MOUNTED_AT: Final = "/var/run/nvidia-container-devices"


@dataclass(frozen=True)
class Answers:
    """Answers for the containers of one pool's resources."""

    share: Share
    place: Place

    def container(self, resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
        """Return the answer for GPUs, MIG devices or replicas."""
        # A GPU is named as often as replicas of it are asked for, as there.
        names = [name_of(self.share.answering, device) for device in devices]
        answer = self._answer(resource, devices, names)
        if self.share.sharing and self.share.sharing.strategy == "mps":
            answer.envs["CUDA_MPS_PIPE_DIRECTORY"] = f"/mps/{resource}/pipe"
        return answer

    def share_of_cards(self, resource: str, devices: Sequence[Device]) -> ContainerAllocateResponse:
        """Return the answer for shares of cores or memory: the cards that they are of."""
        names = dict.fromkeys(name_of(self.share.answering, device) for device in devices)
        return self._answer(resource, devices, list(names))

    def _answer(
        self, resource: str, devices: Sequence[Device], names: list[str]
    ) -> ContainerAllocateResponse:
        answer = ContainerAllocateResponse(
            envs=visible.variables(resource, visible.units(devices)),
            mounts=self.place.mounts("nvidia"),
        )
        strategies = self.share.answering.list_strategies
        if "envvar" in strategies:
            answer.envs[_VARIABLE] = ",".join(names)
        if "volume-mounts" in strategies:
            self._add_mounts(answer, names)
        if "cdi-annotations" in strategies or "cdi-cri" in strategies:
            self._add_cdi(answer, names)
        if "envvar" in strategies or "volume-mounts" in strategies:
            self._add_files(answer, devices)
        return answer

    def _add_mounts(self, answer: ContainerAllocateResponse, names: list[str]) -> None:
        answer.envs[_VARIABLE] = _MOUNTED_AT
        answer.mounts.extend(
            Mount(host_path=visible.NULL, container_path=f"{_MOUNTED_AT}/{name}")
            for name in dict.fromkeys(names)
        )

    def _add_cdi(self, answer: ContainerAllocateResponse, names: list[str]) -> None:
        how = self.share.answering
        qualified = [cdi_names.qualified_name(CDI_VENDOR, CDI_CLASS, name) for name in names]
        qualified += [cdi_names.qualified_name(CDI_VENDOR, class_, "all") for class_ in extras(how)]
        if "cdi-annotations" in how.list_strategies:
            found = cdi_names.annotations("nvidia-device-plugin", str(uuid.uuid4()), qualified)
            for key, value in found.items():
                name = key.removeprefix(cdi_names.ANNOTATION_PREFIX)
                answer.annotations[how.cdi_annotation_prefix + name] = value
        if "cdi-cri" in how.list_strategies:
            answer.cdi_devices.extend(CDIDevice(name=name) for name in qualified)

    def _add_files(self, answer: ContainerAllocateResponse, devices: Iterable[Device]) -> None:
        how = self.share.answering
        if how.pass_device_specs:
            paths = [path for device in devices for path in files_of(self.share, device)]
            answer.devices.extend(visible.files((*CONTROL_FILES, *paths)))
        for name in extras(how):
            answer.envs[f"NVIDIA_{name.upper()}"] = "enabled"
