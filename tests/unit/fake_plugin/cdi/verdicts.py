"""Specs, and what the Go library of CDI says of each.

The verdicts are the library's own: a program of ours wrote each document to a file, a Go program
loaded it with `cdi.ReadSpec` of tags.cncf.io/container-device-interface, once with release v1.1.0
and once with v1.1.2, and printed whether it was accepted, refused, or ended the program. They
differ where `STRICTER` says so.
"""

from dataclasses import dataclass
from typing import Final

Document = dict[str, object]


@dataclass(frozen=True)
class Stricter:
    """A spec that we refuse though a release takes it; `crashes` is one that it ends."""

    document: Document
    rule: str
    reason: str
    taken_by: tuple[str, ...] = ("1.1.0", "1.1.2")
    crashes: tuple[str, ...] = ()


def spec(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec with one device, and with the changes; None takes a key away."""
    whole: Document = {
        "cdiVersion": version,
        "kind": "nvidia.com/gpu",
        "devices": [device()],
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not None}


def device(name: object = "gpu0", **changes: object) -> Document:
    """Return a device of a spec."""
    whole: Document = {"name": name, "containerEdits": {"env": ["A=b"]}, **changes}
    return {key: value for key, value in whole.items() if value is not None}


def edits(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec whose one device has these edits."""
    return spec(version, devices=[device(containerEdits=changes)])


def common(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec with these edits for all its devices."""
    return spec(version, containerEdits=changes)


def node(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec with one device node."""
    return edits(version, deviceNodes=[{"path": "/dev/nvidia0", **changes}])


def mount(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec with one mount."""
    return edits(version, mounts=[{"hostPath": "/a", "containerPath": "/b", **changes}])


def hook(**changes: object) -> Document:
    """Return a spec with one hook."""
    return edits(hooks=[{"hookName": "prestart", "path": "/bin/true", **changes}])


def rdt(version: str = "1.1.0", **changes: object) -> Document:
    """Return a spec with a share of caches."""
    return edits(version, intelRdt=changes)


def net(*pairs: tuple[str, str]) -> Document:
    """Return a spec with these network devices, by their names outside and inside."""
    return edits(netDevices=[{"hostInterfaceName": out, "name": name} for out, name in pairs])


#: Taken by both releases, and by us.
TAKEN: Final[dict[str, Document]] = {
    "least": spec("0.3.0"),
    **{
        f"version {version}": spec(version)
        for version in ("0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0")
    },
    "two devices": spec("0.3.0", devices=[device("a"), device("b")]),
    "capitals": spec("0.3.0", kind="NVIDIA.com/GPU", devices=[device("GPU-A")]),
    "short kind": spec("0.3.0", kind="ab/cd"),
    "kind with dash, dot and underscore": spec("0.3.0", kind="k8s.device-plugin_x/g-p_u"),
    "class with a dot": spec("0.6.0", kind="nvidia.com/mig.gpu"),
    "device of one letter": spec("0.3.0", devices=[device("a")]),
    "device with colons": spec("0.5.0", devices=[device("0000:3b:00.0")]),
    "device that starts with a digit": spec("0.5.0", devices=[device("0")]),
    "annotations": spec("0.6.0", annotations={"example.com/a": "b"}),
    "annotations of a device": spec("0.6.0", devices=[device(annotations={"a": ""})]),
    "annotation with capitals": spec("0.6.0", annotations={"Example.com/A": "b"}),
    "annotation of 63 characters": spec("0.6.0", annotations={"a" * 63: "b"}),
    "no annotations need no version": spec("0.3.0", annotations={}),
    "empty variable": edits("0.3.0", env=["A="]),
    "variable with two equals signs": edits("0.3.0", env=["A=b=c"]),
    "variable with a line end": edits("0.3.0", env=["A=b\nc"]),
    "variable in another script": edits("0.3.0", env=["A=加速器"]),
    "common edits": common("0.3.0", env=["A=b"]),
    "no common edits": common("0.3.0"),
    "node": node("0.3.0"),
    "whole node": node(
        "0.5.0",
        hostPath="/dev/null",
        type="c",
        major=195,
        minor=0,
        fileMode=438,
        permissions="rwm",
        uid=0,
        gid=44,
    ),
    "empty path on the host needs no version": node("0.3.0", hostPath=""),
    **{f"node of type {kind!r}": node("0.3.0", type=kind) for kind in ("", "b", "c", "u", "p")},
    "no permissions named": node("0.3.0", permissions=""),
    "permissions out of order, twice": node("0.3.0", permissions="mwrr"),
    "largest user": node("0.3.0", uid=2**32 - 1),
    "mount": mount("0.3.0", options=["ro", "nosuid"]),
    "mount with a type": mount("0.4.0", type="bind"),
    "mount of an empty type needs no version": mount("0.3.0", type=""),
    "whole hook": hook(args=["true", "-v"], env=["A=b"], timeout=5),
    **{
        f"hook {name}": hook(hookName=name)
        for name in (
            "prestart",
            "createRuntime",
            "createContainer",
            "startContainer",
            "poststart",
            "poststop",
        )
    },
    "empty share of caches": rdt("0.7.0"),
    "share of caches": rdt("0.7.0", closID="gold", l3CacheSchema="L3:0=f", memBwSchema="MB:0=20"),
    "root class": rdt("0.7.0", closID="/"),
    "longest class": rdt("0.7.0", closID="a" * 4095),
    "schemata": rdt("1.1.0", schemata=["L3:0=f"], enableMonitoring=True),
    "monitoring off needs no version": rdt("0.7.0", enableMonitoring=False),
    "groups": edits("0.7.0", additionalGids=[0, 44]),
    "no groups need no version": common("0.3.0", additionalGids=[]),
    "net devices": net(("eth0", "net0"), ("eth1", "net1")),
    "net device of the same name inside": net(("eth0", "eth0")),
    "one net device in two devices": spec(
        devices=[
            device(name, containerEdits={"netDevices": [{"hostInterfaceName": "e", "name": "n"}]})
            for name in ("a", "b")
        ]
    ),
}

#: Refused by both releases, and by us with that rule alone.
REFUSED: Final[dict[str, tuple[object, str]]] = {
    "nothing": (None, "type"),
    "a list": ([], "type"),
    "unknown field": (spec(containerEdit={}), "unknown-field"),
    "unknown field of a device": (spec(devices=[device(kind="x")]), "unknown-field"),
    "unknown field of edits": (edits(env=["A=b"], mount=[]), "unknown-field"),
    "unknown field of common edits": (common(devices=[]), "unknown-field"),
    "unknown field of a node": (node(mode=438), "unknown-field"),
    "unknown field of a mount": (mount(readOnly=True), "unknown-field"),
    "unknown field of a hook": (hook(name="x"), "unknown-field"),
    "unknown field of a share": (rdt(closId2="x"), "unknown-field"),
    "no version": (
        {key: value for key, value in spec().items() if key != "cdiVersion"},
        "missing-field",
    ),
    **{
        f"version {version!r}": (spec(version), "version-unknown")
        for version in ("", "1", "1.1", "0.9.0", "1.2.0", "2.0.0", "1.1.0 ")
    },
    "version 0.1.0": (spec("0.1.0"), "version-too-low"),
    "version 0.2.0": (spec("0.2.0"), "version-too-low"),
    "0.3 with a mount type": (mount("0.3.0", type="bind"), "version-too-low"),
    "0.4 with a host path": (node("0.4.0", hostPath="/dev/null"), "version-too-low"),
    "0.4 with a common host path": (
        common("0.4.0", deviceNodes=[{"path": "/dev/a", "hostPath": "/dev/null"}]),
        "version-too-low",
    ),
    "0.4 with a digit first": (spec("0.4.0", devices=[device("0")]), "version-too-low"),
    "0.5 with annotations": (spec("0.5.0", annotations={"a": "b"}), "version-too-low"),
    "0.5 with a device's annotations": (
        spec("0.5.0", devices=[device(annotations={"a": "b"})]),
        "version-too-low",
    ),
    "0.5 with a dot in the class": (spec("0.5.0", kind="a.b/c.d"), "version-too-low"),
    "0.6 with an empty share": (rdt("0.6.0"), "version-too-low"),
    "0.6 with groups": (edits("0.6.0", additionalGids=[44]), "version-too-low"),
    "0.6 with common groups": (common("0.6.0", additionalGids=[44]), "version-too-low"),
    "1.0 with net devices": (
        common("1.0.0", netDevices=[{"hostInterfaceName": "e", "name": "n"}]),
        "version-too-low",
    ),
    "1.0 with schemata": (rdt("1.0.0", schemata=["L3:0=f"]), "version-too-low"),
    "1.0 with no schemata in a list": (rdt("1.0.0", schemata=[]), "version-too-low"),
    "1.0 with monitoring": (rdt("1.0.0", enableMonitoring=True), "version-too-low"),
    "no kind": (spec(kind=None), "missing-field"),
    **{
        f"kind {kind!r}": (spec(kind=kind), "kind")
        for kind in (
            "",
            "gpu",
            "/gpu",
            "nvidia.com/",
            "nvidia.com/gpu/x",
            "1nvidia.com/gpu",
            "-nvidia/gpu",
            "nvidia.com-/gpu",
            "nvidia com/gpu",
            "nvidia.com/1gpu",
            "nvidia.com/gpu.",
            "nvidia.com/g:pu",
            "nvidia.com/g=pu",
            "nvidiá/gpu",
            "nvidia.com/gpu\n",
        )
    },
    "devices missing": (spec(devices=None), "missing-field"),
    "no devices": (spec(devices=[]), "no-devices"),
    "devices in a mapping": (spec(devices={"gpu0": {}}), "type"),
    "a device twice": (spec(devices=[device("a"), device("a")]), "duplicate-device"),
    "device without a name": (
        spec(devices=[{"containerEdits": {"env": ["A=b"]}}]),
        "missing-field",
    ),
    **{
        f"device {name!r}": (spec(devices=[device(name)]), "device-name")
        for name in (
            "",
            "-a",
            "a-",
            ":a",
            "a:",
            "_",
            "a b",
            "a/b",
            "a=b",
            "a@b",
            "é",
            "a\n",
            "a\0b",
        )
    },
    "device without edits": (spec(devices=[device(containerEdits=None)]), "missing-field"),
    "device with empty edits": (edits(), "empty-edits"),
    "device with empty lists": (
        edits(env=[], deviceNodes=[], mounts=[], hooks=[], netDevices=[], additionalGids=[]),
        "empty-edits",
    ),
    "edits in a list": (spec(devices=[device(containerEdits=[{"env": ["A=b"]}])]), "type"),
    "common edits in a list": (spec(containerEdits=[{"env": ["A=b"]}]), "type"),
    "variable without a value": (edits(env=["A"]), "env-form"),
    "variable without a name": (edits(env=["=b"]), "env-form"),
    "empty text as a variable": (edits(env=[""]), "env-form"),
    "common variable without a value": (common(env=["A"]), "env-form"),
    "variables in a mapping": (edits(env={"A": "b"}), "type"),
    "variable of a hook without a value": (hook(env=["A"]), "env-form"),
    "node without a path": (edits(deviceNodes=[{"type": "c"}]), "missing-field"),
    "node with an empty path": (node(path=""), "empty"),
    "node of type d": (node(type="d"), "node-type"),
    "node of type cc": (node(type="cc"), "node-type"),
    "node with permission x": (node(permissions="rx"), "node-permissions"),
    "node with a capital permission": (node(permissions="RW"), "node-permissions"),
    "negative user": (node(uid=-1), "range"),
    "user of 33 bits": (node(uid=2**32), "range"),
    "mode in words": (node(fileMode="rw"), "type"),
    "number of 64 bits": (node(major=2**63), "range"),
    "nodes in a mapping": (edits(deviceNodes={"path": "/dev/a"}), "type"),
    "node as text": (edits(deviceNodes=["/dev/nvidia0"]), "type"),
    "mount without a host path": (edits(mounts=[{"containerPath": "/b"}]), "missing-field"),
    "mount without a container path": (edits(mounts=[{"hostPath": "/a"}]), "missing-field"),
    "mount with an empty host path": (mount(hostPath=""), "empty"),
    "mount with an empty container path": (mount(containerPath=""), "empty"),
    "options as text": (mount(options="ro"), "type"),
    "hook without a name": (edits(hooks=[{"path": "/bin/true"}]), "missing-field"),
    "hook without a path": (edits(hooks=[{"hookName": "prestart"}]), "missing-field"),
    "hook with an empty path": (hook(path=""), "empty"),
    "hook of no name": (hook(hookName=""), "hook-name"),
    "hook of another name": (hook(hookName="preStart"), "hook-name"),
    **{
        f"class {name[:9]!r}": (rdt(closID=name), "rdt-class")
        for name in (".", "..", "a/b", "a\nb", "a" * 4096)
    },
    "share in a list": (edits(intelRdt=[]), "type"),
    "monitoring in words": (rdt(enableMonitoring="perhaps"), "type"),
    "group in words": (edits(additionalGids=["video"]), "type"),
    "negative group": (edits(additionalGids=[-1]), "range"),
    "net device without a name outside": (edits(netDevices=[{"name": "n"}]), "missing-field"),
    "net device without a name inside": (
        edits(netDevices=[{"hostInterfaceName": "e"}]),
        "missing-field",
    ),
    "net device with an empty name outside": (net(("", "n")), "empty"),
    "net device with an empty name inside": (net(("e", "")), "empty"),
    "net device outside twice": (net(("e", "a"), ("e", "b")), "duplicate-net-device"),
    "net device inside twice": (net(("e", "a"), ("f", "a")), "duplicate-net-device"),
    "annotations in a list": (spec(annotations=["a"]), "type"),
    "annotation in a mapping": (spec(annotations={"a": {"b": "c"}}), "type"),
}

_YAML_TYPES = "a type is asked for; releases turn what YAML reads into it"
_ANY_KEY = "the library means to check keys, and never gets to it"
_NULL = "null is no mapping: releases follow it as a pointer, and end"

#: Taken by a release at least, and not by us: the rule, and why.
STRICTER: Final[dict[str, Stricter]] = {
    "version with a v": Stricter(
        spec("v1.1.0"), "version-unknown", "CDI's text has no v in a version"
    ),
    "field in other capitals": Stricter(
        edits(additionalGIDs=[44]), "unknown-field", "1.1.0 ignores case", ("1.1.0",)
    ),
    "permissions none": Stricter(
        node(permissions="none"), "node-permissions", "came after 1.1.0", ("1.1.2",)
    ),
    "negative major": Stricter(node(major=-1), "range", "-1 means every device", ("1.1.0",)),
    "negative minor": Stricter(node(minor=-1), "range", "-1 means every device", ("1.1.0",)),
    "vendor of one letter": Stricter(
        spec(kind="a/gpu"), "kind", "1.1.0 ends at it", ("1.1.2",), crashes=("1.1.0",)
    ),
    "class of one letter": Stricter(
        spec(kind="a.b/g"), "kind", "1.1.0 ends at it", ("1.1.2",), crashes=("1.1.0",)
    ),
    **{
        f"null in {key}": Stricter(
            spec(devices=[device(containerEdits={key: [None]})]), "type", _NULL, (), crashes
        )
        for key, crashes in (
            ("deviceNodes", ("1.1.0", "1.1.2")),
            ("mounts", ("1.1.0", "1.1.2")),
            ("hooks", ("1.1.0",)),
            ("netDevices", ("1.1.0",)),
        )
    },
    "monitoring on": Stricter(rdt(enableMonitoring="on"), "type", _YAML_TYPES, ("1.1.2",)),
    "hook without an end": Stricter(hook(timeout=0), "range", "OCI asks for more than zero"),
    "null for a list": Stricter(edits(env=["A=b"], mounts=None), "type", "null is no list"),
    "number as a device": Stricter(spec(devices=[device(0)]), "type", _YAML_TYPES),
    "number as an annotation": Stricter(spec(annotations={"a": 1}), "type", _YAML_TYPES),
    "fraction that is whole": Stricter(node(uid=1.0), "type", "a whole number is asked for"),
    "annotation with a space": Stricter(spec(annotations={"a b": ""}), "annotation-key", _ANY_KEY),
    "annotation of no name": Stricter(
        spec(annotations={"example.com/": ""}), "annotation-key", _ANY_KEY
    ),
    "annotation of no prefix": Stricter(spec(annotations={"/a": ""}), "annotation-key", _ANY_KEY),
    "annotation of two slashes": Stricter(
        spec(annotations={"a/b/c": ""}), "annotation-key", _ANY_KEY
    ),
    "annotation of 64 characters": Stricter(
        spec(annotations={"a" * 64: ""}), "annotation-key", _ANY_KEY
    ),
    "annotations of more than 256 KiB": Stricter(
        spec(annotations={"a": "b" * 2**18}), "annotations-size", _ANY_KEY
    ),
}
