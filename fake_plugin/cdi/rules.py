"""Every rule of a CDI spec, and the version that its features need.

A spec that breaks none is taken by releases 1.1.0 to 1.1.2 of the Go library, which containerd and
others load specs with (pkg/cdi/spec.go and container-edits.go, specs-go/version.go). Where the
releases differ, or are more lenient than CDI's own text, the stricter side holds here:

- a field has its exact name and type: 1.1.0 takes `additionalGIDs`, and 1 where text is asked for
- keys of annotations are checked, as the library means to
- `permissions: none`, which came with a later release, is refused, and so are negative numbers of
  devices, which a later release refuses
- a hook has an end: OCI asks for a timeout above zero
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from fake_plugin.cdi.names import broken_device_rule, broken_kind_rule
from fake_plugin.cdi.shape import (
    Field,
    Finding,
    Shape,
    Use,
    Violation,
    at,
    flag,
    number,
    one,
    several,
    shown,
    text,
)

#: In order; the library needs at least `_EARLIEST`, though it knows older ones by name.
VERSIONS: Final = (
    *(f"0.{minor}.0" for minor in range(1, 9)),
    "1.0.0",
    "1.1.0",
)
_EARLIEST: Final = "0.3.0"

_ANNOTATIONS_LIMIT: Final = 256 * 1024
_KEY_NAME_LIMIT: Final = 63
_KEY_PREFIX_LIMIT: Final = 253
_KEY_NAME: Final = re.compile(r"[a-z0-9]([-_.a-z0-9]*[a-z0-9])?")
_KEY_PREFIX: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NODE_TYPES: Final = frozenset({"", "b", "c", "u", "p"})
_HOOKS: Final = (
    "prestart",
    "createRuntime",
    "createContainer",
    "startContainer",
    "poststart",
    "poststop",
)
_FILE_NAME_LIMIT: Final = 4096
_UINT32: Final = 2**32 - 1
_INT64: Final = 2**63 - 1


def check(data: object) -> list[Violation]:
    """Return every violation in a parsed spec: none where a container runtime takes it."""
    wrong, needed = _violations_and_need(data)
    declared = data.get("cdiVersion") if isinstance(data, dict) else None
    if isinstance(declared, str) and declared in VERSIONS and _older(declared, needed.version):
        reason = f"which {needed.path} needs" if needed.path else "the lowest that runtimes take"
        what = f"{shown(declared)} must be at least {needed.version}, {reason}"
        wrong.append(Violation("version-too-low", "cdiVersion", what))
    return wrong


def needed_version(data: object) -> str:
    """Return the lowest version of CDI that has what the parsed spec uses."""
    return _violations_and_need(data)[1].version


def _violations_and_need(data: object) -> tuple[list[Violation], Use]:
    wrong, needed = [], Use(_EARLIEST, "")
    for found in _spec(data, ""):
        if isinstance(found, Violation):
            wrong.append(found)
        elif _older(needed.version, found.version):
            needed = found
    return wrong, needed


def _older(version: str, other: str) -> bool:
    return VERSIONS.index(version) < VERSIONS.index(other)


def _version(value: str) -> str | None:
    return None if value in VERSIONS else f"must be one of {', '.join(VERSIONS)}"


def _filled(value: str) -> str | None:
    return None if value else "must not be empty"


def _variable(value: str) -> str | None:
    return None if value.find("=") > 0 else "must have the form NAME=value"


def _node_type(value: str) -> str | None:
    return None if value in _NODE_TYPES else "must be b, c, u or p, or left out"


def _permissions(value: str) -> str | None:
    return None if set(value) <= set("rwm") else "must be made of r, w and m"


def _hook_name(value: str) -> str | None:
    return None if value in _HOOKS else f"must be one of {', '.join(_HOOKS)}"


def _class_of_service(value: str) -> str | None:
    if value == "/":
        return None
    is_file = value not in {".", ".."} and not set(value) & set("/\n")
    if is_file and len(value.encode()) < _FILE_NAME_LIMIT:
        return None
    return 'must be "/" or the name of a file'


def _annotation_key(key: str) -> str | None:
    prefix, slash, name = key.lower().rpartition("/")
    if slash and not (len(prefix) <= _KEY_PREFIX_LIMIT and _KEY_PREFIX.fullmatch(prefix)):
        return f"must have a DNS subdomain of at most {_KEY_PREFIX_LIMIT} characters in front of /"
    if len(name) > _KEY_NAME_LIMIT or not _KEY_NAME.fullmatch(name):
        return (
            f"must have a name of 1 to {_KEY_NAME_LIMIT} letters, digits, '-', '_' or '.', "
            "with a letter or digit at both ends"
        )
    return None


def _annotations(value: object, path: str) -> Iterator[Finding]:
    if not isinstance(value, dict):
        yield Violation("type", path, f"{shown(value)} must be a mapping")
        return
    for key, each in value.items():
        yield from text("annotation-key", _annotation_key)(key, at(path, str(key)))
        yield from text()(each, at(path, str(key)))
    size = sum(len(str(part).encode(errors="replace")) for pair in value.items() for part in pair)
    if size > _ANNOTATIONS_LIMIT:
        what = f"{size} bytes must be at most {_ANNOTATIONS_LIMIT}"
        yield Violation("annotations-size", path, what)


def _twice(rule: str, key: str, members: object, path: str) -> Iterator[Finding]:
    """Find what the members of a list have in common under a key that tells them apart."""
    listed = members if isinstance(members, list) else []
    mappings = [each for each in listed if isinstance(each, dict)]
    names = Counter(name for each in mappings if isinstance(name := each.get(key), str))
    for name, count in names.items():
        if count > 1:
            yield Violation(rule, path, f"the {key} {shown(name)} is there {count} times")


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _whole_spec(values: dict[str, object], path: str) -> Iterator[Finding]:
    devices = values.get("devices")
    if devices == []:
        yield Violation("no-devices", at(path, "devices"), "must have a device")
    yield from _twice("duplicate-device", "name", devices, at(path, "devices"))


def _whole_device(values: dict[str, object], path: str) -> Iterator[Finding]:
    edits = values.get("containerEdits")
    # An empty intelRdt is something: it asks for a class of its own.
    if isinstance(edits, dict) and not any(edits[key] or key == "intelRdt" for key in edits):
        what = "a device must change something in its container"
        yield Violation("empty-edits", at(path, "containerEdits"), what)


def _whole_edits(values: dict[str, object], path: str) -> Iterator[Finding]:
    nets = values.get("netDevices")
    for key in ("hostInterfaceName", "name"):
        yield from _twice("duplicate-net-device", key, nets, at(path, "netDevices"))


def _class_has_dot(kind: object) -> bool:
    return isinstance(kind, str) and "." in kind.partition("/")[2]


def _starts_with_digit(name: object) -> bool:
    return isinstance(name, str) and name[:1].isascii() and name[:1].isdigit()


def _always(_value: object) -> bool:
    return True


_TEXT: Final = Field(text())
_TEXTS: Final = Field(several(text()))
_PATH: Final = Field(text("empty", _filled), required=True)
_ENV: Final = Field(several(text("env-form", _variable)))
_ANNOTATIONS: Final = Field(_annotations, since="0.6.0")
_UNSIGNED: Final = Field(number(0, _UINT32))
_DEVICE_NUMBER: Final = Field(number(0, _INT64))

_NODE: Final = Shape(
    {
        "path": _PATH,
        "hostPath": Field(text(), since="0.5.0"),
        "type": Field(text("node-type", _node_type)),
        "major": _DEVICE_NUMBER,
        "minor": _DEVICE_NUMBER,
        "fileMode": _UNSIGNED,
        "permissions": Field(text("node-permissions", _permissions)),
        "uid": _UNSIGNED,
        "gid": _UNSIGNED,
    }
)
_MOUNT: Final = Shape(
    {
        "hostPath": _PATH,
        "containerPath": _PATH,
        "options": _TEXTS,
        "type": Field(text(), since="0.4.0"),
    }
)
_HOOK: Final = Shape(
    {
        "hookName": Field(text("hook-name", _hook_name), required=True),
        "path": _PATH,
        "args": _TEXTS,
        "env": _ENV,
        "timeout": Field(number(1, _INT64)),
    }
)
_NET_DEVICE: Final = Shape({"hostInterfaceName": _PATH, "name": _PATH})
_INTEL_RDT: Final = Shape(
    {
        "closID": Field(text("rdt-class", _class_of_service)),
        "l3CacheSchema": _TEXT,
        "memBwSchema": _TEXT,
        "schemata": Field(several(text()), since="1.1.0", uses=_is_list),
        "enableMonitoring": Field(flag, since="1.1.0"),
    }
)
_EDITS: Final = Shape(
    {
        "env": _ENV,
        "deviceNodes": Field(several(one(_NODE))),
        "netDevices": Field(several(one(_NET_DEVICE)), since="1.1.0"),
        "mounts": Field(several(one(_MOUNT))),
        "hooks": Field(several(one(_HOOK))),
        "intelRdt": Field(one(_INTEL_RDT), since="0.7.0", uses=_always),
        "additionalGids": Field(several(number(0, _UINT32)), since="0.7.0"),
    },
    _whole_edits,
)
_DEVICE: Final = Shape(
    {
        "name": Field(
            text("device-name", broken_device_rule),
            required=True,
            since="0.5.0",
            uses=_starts_with_digit,
        ),
        "annotations": _ANNOTATIONS,
        "containerEdits": Field(one(_EDITS), required=True),
    },
    _whole_device,
)
_spec: Final[Callable[[object, str], Iterator[Finding]]] = one(
    Shape(
        {
            "cdiVersion": Field(text("version-unknown", _version), required=True),
            "kind": Field(
                text("kind", broken_kind_rule), required=True, since="0.6.0", uses=_class_has_dot
            ),
            "annotations": _ANNOTATIONS,
            "devices": Field(several(one(_DEVICE)), required=True),
            "containerEdits": Field(one(_EDITS)),
        },
        _whole_spec,
    )
)
