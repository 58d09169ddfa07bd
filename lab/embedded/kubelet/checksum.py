"""The checksum of a checkpoint: FNV-1a over how a Go library prints the data.

The kubelet hashes the text that the package spew makes of its structures (pkg/util/hash), so a
file that a real kubelet accepts needs that very text, field names and types included.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

_OFFSET: Final = 2166136261
_PRIME: Final = 16777619
_MASK: Final = 0xFFFFFFFF
_NIL: Final = "<nil>"

Ids = Sequence[str] | None


def fnv_1a(text: str) -> int:
    """Return the hash of 32 bits (Fowler, Noll, Vo, variant 1a)."""
    value = _OFFSET
    for byte in text.encode():
        value = ((value ^ byte) * _PRIME) & _MASK
    return value


def data_text(entries: Sequence[str] | None, registered: Mapping[str, Ids] | None) -> str:
    """Return the text of the whole data, of which the entries are printed already."""
    shown = _NIL if entries is None else f"[{' '.join(entries)}]"
    return (
        "(checkpoint.checkpointData){"
        f"PodDeviceEntries:([]checkpoint.PodDevicesEntry){shown} "
        f"RegisteredDevices:(map[string][]string){_map(registered)}}}"
    )


def entry_text(
    pod_uid: str,
    container: str,
    resource: str,
    devices: Mapping[int, Ids] | None,
    answer: bytes | None,
) -> str:
    """Return the text of one entry."""
    shown = _NIL if answer is None else _list(map(str, answer))
    return (
        f"{{PodUID:(string){pod_uid} ContainerName:(string){container} "
        f"ResourceName:(string){resource} "
        f"DeviceIDs:(checkpoint.DevicesPerNUMA){_map(devices)} AllocResp:([]uint8){shown}}}"
    )


def _map(values: Mapping[str, Ids] | Mapping[int, Ids] | None) -> str:
    if values is None:
        return _NIL
    shown = (f"{key}:{_NIL if ids is None else _list(ids)}" for key, ids in sorted(values.items()))
    return f"map[{' '.join(shown)}]"


def _list(items: Iterable[str]) -> str:
    return f"[{' '.join(items)}]"
