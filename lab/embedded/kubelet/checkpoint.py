"""The file in which the kubelet keeps over restarts who holds which devices.

`kubelet_internal_checkpoint`, in the folder of the plugins' sockets, in the kubelet's own format
(devicemanager/checkpoint), checksum included: either can read what the other wrote. It is written
on every list of devices, after an allocation and when a resource expires, and not when a pod goes
(#137010): it is no place to look up who holds a device.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError
from pydantic import BaseModel, ValidationError

from fake_plugin.api.deviceplugin_pb2 import ContainerAllocateResponse
from fake_plugin.files.replacement import replace
from lab.embedded.kubelet import checksum
from lab.embedded.kubelet.holdings import Holding, Holdings

NAME: Final = "kubelet_internal_checkpoint"
#: Nobody but the kubelet reads it.
_PRIVATE: Final = 0o600


class CheckpointDamaged(Exception):
    """The file is there, and not what a kubelet wrote; the text is the kubelet's or says why."""


class _Entry(BaseModel):
    PodUID: str = ""
    ContainerName: str = ""
    ResourceName: str = ""
    DeviceIDs: dict[int, list[str] | None] | None = None
    #: In base 64.
    AllocResp: str | None = None

    def answer(self) -> bytes | None:
        return None if self.AllocResp is None else base64.b64decode(self.AllocResp)

    def text(self) -> str:
        return checksum.entry_text(
            self.PodUID, self.ContainerName, self.ResourceName, self.DeviceIDs, self.answer()
        )


class _Data(BaseModel):
    PodDeviceEntries: list[_Entry] | None = None
    RegisteredDevices: dict[str, list[str] | None] | None = None

    def checksum(self) -> int:
        entries = self.PodDeviceEntries
        shown = None if entries is None else [entry.text() for entry in entries]
        return checksum.fnv_1a(checksum.data_text(shown, self.RegisteredDevices))


class _File(BaseModel):
    Data: _Data
    Checksum: int


def write_checkpoint(
    folder: Path, holdings: Holdings, registered: Mapping[str, Iterable[str]]
) -> None:
    """Write what pods hold and the healthy devices by resource; raise OSError."""
    entries = [_entry(*holding) for holding in holdings]
    data = _Data(
        # A list without entries is written as null.
        PodDeviceEntries=entries or None,
        RegisteredDevices={resource: list(ids) for resource, ids in registered.items()},
    )
    text = _File(Data=data, Checksum=data.checksum()).model_dump_json()
    replace(folder / NAME, [text], _PRIVATE)


def read_checkpoint(folder: Path) -> tuple[Holdings, list[str]]:
    """Return what pods held, and the names of the resources that were registered.

    Where there is no file, nothing was. Raises `CheckpointDamaged`.
    """
    try:
        file = _File.model_validate_json((folder / NAME).read_bytes())
        seen = file.Data.checksum()
    except FileNotFoundError:
        return Holdings(), []
    except (OSError, ValidationError, binascii.Error) as problem:
        raise CheckpointDamaged(str(problem)) from problem
    if file.Checksum != seen:
        raise CheckpointDamaged("checkpoint is corrupted")
    return _holdings(file.Data.PodDeviceEntries or []), list(file.Data.RegisteredDevices or {})


def _entry(uid: str, container: str, resource: str, holding: Holding) -> _Entry:
    return _Entry(
        PodUID=uid,
        ContainerName=container,
        ResourceName=resource,
        DeviceIDs={node: list(ids) for node, ids in holding.by_numa.items()},
        AllocResp=base64.b64encode(holding.answer.SerializeToString()).decode(),
    )


def _holdings(entries: Iterable[_Entry]) -> Holdings:
    holdings = Holdings()
    for entry in entries:
        try:
            answer = ContainerAllocateResponse.FromString(entry.answer() or b"")
        except DecodeError:
            # The kubelet leaves such an entry out, and goes on with the next.
            continue
        by_numa = {node: tuple(ids or ()) for node, ids in (entry.DeviceIDs or {}).items()}
        holding = Holding(by_numa, answer)
        holdings.insert(entry.PodUID, entry.ContainerName, entry.ResourceName, holding)
    return holdings
