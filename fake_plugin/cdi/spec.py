"""A CDI spec as values: what is to change in a container that is given a device."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Final, TypeAlias, TypeVar

from fake_plugin.cdi.rules import needed_version

T = TypeVar("T")

#: The device that stands for all of its spec, by convention of the vendors' tools.
ALL: Final = "all"

#: The options of what a container may read and run, and not change.
READ_ONLY: Final = ("ro", "nosuid", "nodev", "rbind", "rprivate")

_JSON_NAMES: Final = {"clos_id": "closID"}
#: What JSON takes as it is, and YAML, which the runtimes read specs as, does not.
_NOT_IN_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True)
class DeviceNode:
    """A device file at `path` in the container; what is left out, `host_path` on the node says.

    `permissions` are of r, w and m; left out they are all three. `file_mode` is a number.
    """

    path: str
    host_path: str = ""
    type: str = ""
    major: int | None = None
    minor: int | None = None
    file_mode: int | None = None
    permissions: str = ""
    uid: int | None = None
    gid: int | None = None


@dataclass(frozen=True)
class Mount:
    """A path of the node, at a path of the container, which cannot write there by default.

    Options of one's own need `bind` or `rbind`: without, OCI runtimes mount a file system of the
    type `type`.
    """

    host_path: str
    container_path: str
    options: tuple[str, ...] = READ_ONLY
    type: str = ""


@dataclass(frozen=True)
class Hook:
    """A program of the node that is run at one of OCI's points; `timeout` in seconds."""

    hook_name: str
    path: str
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    timeout: int | None = None


@dataclass(frozen=True)
class NetDevice:
    """A network interface of the node that moves into the container under another name."""

    host_interface_name: str
    name: str


@dataclass(frozen=True)
class IntelRdt:
    """A share of caches and memory bandwidth, as Intel's resource control has it."""

    clos_id: str = ""
    l3_cache_schema: str = ""
    mem_bw_schema: str = ""
    schemata: tuple[str, ...] = ()
    enable_monitoring: bool = False


Part: TypeAlias = DeviceNode | Mount | Hook | NetDevice | IntelRdt


@dataclass(frozen=True)
class Edits:
    """What changes in a container; `env` are texts of the form NAME=value."""

    env: tuple[str, ...] = ()
    device_nodes: tuple[DeviceNode, ...] = ()
    mounts: tuple[Mount, ...] = ()
    hooks: tuple[Hook, ...] = ()
    net_devices: tuple[NetDevice, ...] = ()
    intel_rdt: IntelRdt | None = None
    additional_gids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Device:
    """One device of a spec, under its name without vendor and class."""

    name: str
    edits: Edits
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Spec:
    """The devices of one kind, `vendor/class`.

    `edits` are made in every container that is given at least one of the devices. Nothing is
    checked here: `rules.check` tells what is wrong with a `document`.
    """

    kind: str
    devices: tuple[Device, ...]
    edits: Edits = field(default_factory=Edits)
    annotations: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return the JSON form, with the lowest version that has all that is used."""
        body: dict[str, object] = {"kind": self.kind}
        if self.annotations:
            body["annotations"] = dict(self.annotations)
        body["devices"] = [_device(each) for each in self.devices]
        if edits := _json(self.edits):
            body["containerEdits"] = edits
        return {"cdiVersion": needed_version(body), **body}


def file_text(document: Mapping[str, object]) -> str:
    """Return a JSON form as the text of a file, which is YAML as well."""
    written = json.dumps(document, ensure_ascii=False, indent=2)
    return _NOT_IN_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", written) + "\n"


def build(vendor: str, class_: str, devices: Mapping[str, Edits], common: Edits) -> Spec:
    """Return the spec of some devices and of `all`, which is everything that the others are.

    `common` goes into every container with any of them. A device named "all" that is given is
    kept as it is. Without devices there is no "all" either, and the spec is one that
    `rules.check` refuses: remove the file instead.
    """
    everything = {ALL: merged(devices.values())} if devices else {}
    return Spec(
        kind=f"{vendor}/{class_}",
        devices=tuple(Device(name, edits) for name, edits in {**everything, **devices}.items()),
        edits=common,
    )


def merged(several: Iterable[Edits]) -> Edits:
    """Return the edits together, each once and in order; the last `intel_rdt` holds."""
    several = tuple(several)
    shares = [each.intel_rdt for each in several if each.intel_rdt is not None]
    return Edits(
        env=_union(each.env for each in several),
        device_nodes=_union(each.device_nodes for each in several),
        mounts=_union(each.mounts for each in several),
        hooks=_union(each.hooks for each in several),
        net_devices=_union(each.net_devices for each in several),
        intel_rdt=shares[-1] if shares else None,
        additional_gids=_union(each.additional_gids for each in several),
    )


def _union(parts: Iterable[tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(each for part in parts for each in part))


def _device(device: Device) -> dict[str, object]:
    named: dict[str, object] = {"name": device.name}
    if device.annotations:
        named["annotations"] = dict(device.annotations)
    return {**named, "containerEdits": _json(device.edits)}


def _json(part: Edits | Part) -> dict[str, object]:
    """Return the fields that say something. A number does, and be it 0: user 0 is root."""
    values = {each.name: getattr(part, each.name) for each in fields(part)}
    return {
        _json_name(name): _json_value(value)
        for name, value in values.items()
        if value or (isinstance(value, int) and not isinstance(value, bool))
    }


def _json_value(value: object) -> object:
    if isinstance(value, tuple):
        return [_json_value(each) for each in value]
    return _json(value) if isinstance(value, Part) else value


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return _JSON_NAMES.get(name, first + "".join(word.capitalize() for word in rest))
