"""The JSON form of a spec, and its version."""

from collections.abc import Mapping

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_plugin.cdi.rules import check
from fake_plugin.cdi.spec import (
    Device,
    DeviceNode,
    Edits,
    Hook,
    IntelRdt,
    Mount,
    NetDevice,
    Spec,
    build,
    file_text,
    merged,
)
from fake_plugin.files.document import SafeLoader
from tests.unit.fake_plugin.cdi.drawn import (
    common_edits,
    device_edits,
    device_names,
    specs,
    vendors,
)

GPU_0 = Edits(device_nodes=(DeviceNode("/dev/nvidia0", "/dev/null"),))
GPU_1 = Edits(device_nodes=(DeviceNode("/dev/nvidia1", "/dev/null"),))
PROGRAM = Edits(mounts=(Mount("/opt/smi", "/usr/bin/nvidia-smi"),))


def test_a_spec_is_built_of_units_and_all() -> None:
    """Each unit is a device, `all` is everything, and the common edits stand once."""
    assert build("nvidia.com", "gpu", {"0": GPU_0, "1": GPU_1}, PROGRAM).document() == {
        "cdiVersion": "0.5.0",
        "kind": "nvidia.com/gpu",
        "devices": [
            {
                "name": "all",
                "containerEdits": {
                    "deviceNodes": [
                        {"path": "/dev/nvidia0", "hostPath": "/dev/null"},
                        {"path": "/dev/nvidia1", "hostPath": "/dev/null"},
                    ]
                },
            },
            {
                "name": "0",
                "containerEdits": {
                    "deviceNodes": [{"path": "/dev/nvidia0", "hostPath": "/dev/null"}]
                },
            },
            {
                "name": "1",
                "containerEdits": {
                    "deviceNodes": [{"path": "/dev/nvidia1", "hostPath": "/dev/null"}]
                },
            },
        ],
        "containerEdits": {
            "mounts": [
                {
                    "hostPath": "/opt/smi",
                    "containerPath": "/usr/bin/nvidia-smi",
                    "options": ["ro", "nosuid", "nodev", "rbind", "rprivate"],
                }
            ]
        },
    }


def test_all_may_be_given() -> None:
    """A vendor whose `all` is more than its units says so."""
    built = build("a.b", "cd", {"0": GPU_0, "all": PROGRAM}, Edits())
    assert {device.name: device.edits for device in built.devices} == {"0": GPU_0, "all": PROGRAM}


def test_without_devices_there_is_no_all() -> None:
    """A pool whose devices are all unplugged has nothing to write, and the rules say so."""
    document = build("a.b", "cd", {}, PROGRAM).document()
    assert [violation.rule for violation in check(document)] == ["no-devices"]


@pytest.mark.parametrize(
    ("edits", "form"),
    [
        (
            Edits(device_nodes=(DeviceNode("/dev/a", "/dev/b", "c", 1, 3, 0o666, "rw", 1000, 44),)),
            {
                "deviceNodes": [
                    {"path": "/dev/a", "hostPath": "/dev/b", "type": "c", "major": 1, "minor": 3}
                    | {"fileMode": 438, "permissions": "rw", "uid": 1000, "gid": 44}
                ]
            },
        ),
        (
            Edits(mounts=(Mount("/a", "/b", ("ro",), "bind"),)),
            {
                "mounts": [
                    {"hostPath": "/a", "containerPath": "/b", "options": ["ro"], "type": "bind"}
                ]
            },
        ),
        (
            Edits(hooks=(Hook("prestart", "/bin/x", ("x", "y"), ("C=d",), 5),)),
            {
                "hooks": [
                    {"hookName": "prestart", "path": "/bin/x", "args": ["x", "y"]}
                    | {"env": ["C=d"], "timeout": 5}
                ]
            },
        ),
        (
            Edits(net_devices=(NetDevice("eth1", "net1"),)),
            {"netDevices": [{"hostInterfaceName": "eth1", "name": "net1"}]},
        ),
        (
            Edits(
                intel_rdt=IntelRdt("gold", "L3:0=f", "MB:0=20", ("L3:0=f",), enable_monitoring=True)
            ),
            {
                "intelRdt": {"closID": "gold", "l3CacheSchema": "L3:0=f", "memBwSchema": "MB:0=20"}
                | {"schemata": ["L3:0=f"], "enableMonitoring": True}
            },
        ),
        (Edits(env=("A=b",), additional_gids=(44,)), {"env": ["A=b"], "additionalGids": [44]}),
    ],
    ids=["device node", "mount", "hook", "net device", "share of caches", "lists"],
)
def test_every_field_has_its_name_of_json(edits: Edits, form: Mapping[str, object]) -> None:
    """The names are those of the Go library's struct tags."""
    document = Spec("a.b/cd", (Device("x", edits),)).document()
    assert document["devices"] == [{"name": "x", "containerEdits": form}]
    assert check(document) == []


def test_annotations_stand_at_the_spec_and_at_each_device() -> None:
    """Both are mappings of text, under one name."""
    spec = Spec(
        "a.b/cd",
        (Device("x", Edits(mounts=(Mount("/a", "/b", ("ro",)),)), {"k": "v"}),),
        annotations={"l": "w"},
    )
    form = {"mounts": [{"hostPath": "/a", "containerPath": "/b", "options": ["ro"]}]}
    assert spec.document() == {
        "cdiVersion": "0.6.0",
        "kind": "a.b/cd",
        "annotations": {"l": "w"},
        "devices": [{"name": "x", "annotations": {"k": "v"}, "containerEdits": form}],
    }


@pytest.mark.parametrize(
    ("edits", "form"),
    [
        (Edits(), {}),
        (Edits(intel_rdt=IntelRdt()), {"intelRdt": {}}),
        (
            Edits(device_nodes=(DeviceNode("/dev/a", uid=0, gid=0, minor=0),)),
            {"deviceNodes": [{"path": "/dev/a", "minor": 0, "uid": 0, "gid": 0}]},
        ),
    ],
    ids=["nothing", "an empty share", "user and group 0"],
)
def test_what_says_nothing_is_left_out(edits: Edits, form: Mapping[str, object]) -> None:
    """Zero says something, and so does an empty share of caches; empty text and lists do not."""
    document = Spec("a.b/cd", (Device("x", edits),)).document()
    assert document["devices"] == [{"name": "x", "containerEdits": form}]


@pytest.mark.parametrize(
    ("version", "spec"),
    [
        ("0.3.0", Spec("a.b/cd", (Device("x", Edits(env=("A=b",))),))),
        ("0.4.0", Spec("a.b/cd", (Device("x", Edits(mounts=(Mount("/a", "/b", (), "bind"),))),))),
        ("0.5.0", Spec("a.b/cd", (Device("x", GPU_0),))),
        ("0.5.0", Spec("a.b/cd", (Device("0", PROGRAM),))),
        ("0.6.0", Spec("a.b/c.d", (Device("x", PROGRAM),))),
        ("0.6.0", Spec("a.b/cd", (Device("x", PROGRAM, {"a": "b"}),))),
        ("0.6.0", Spec("a.b/cd", (Device("x", PROGRAM),), annotations={"a": "b"})),
        ("0.7.0", Spec("a.b/cd", (Device("x", Edits(additional_gids=(44,))),))),
        ("0.7.0", Spec("a.b/cd", (Device("x", PROGRAM),), Edits(intel_rdt=IntelRdt()))),
        ("1.1.0", Spec("a.b/cd", (Device("x", Edits(net_devices=(NetDevice("a", "b"),))),))),
        (
            "1.1.0",
            Spec("a.b/cd", (Device("x", Edits(intel_rdt=IntelRdt(enable_monitoring=True))),)),
        ),
        ("1.1.0", Spec("a.b/cd", (Device("x", Edits(intel_rdt=IntelRdt(schemata=("L3",)))),))),
    ],
)
def test_the_version_is_the_lowest_that_will_do(version: str, spec: Spec) -> None:
    """An old runtime is given every spec that it can read."""
    assert spec.document()["cdiVersion"] == version
    assert check(spec.document()) == []


def test_edits_are_merged_without_doubles() -> None:
    """What two devices share is made once; of two shares of caches the last holds."""
    gold, silver = IntelRdt("gold"), IntelRdt("silver")
    first = Edits(env=("A=b", "C=d"), additional_gids=(44,), intel_rdt=gold)
    second = Edits(env=("C=d", "E=f"), additional_gids=(44, 45), intel_rdt=silver)
    assert merged([first, second, Edits()]) == Edits(
        env=("A=b", "C=d", "E=f"), additional_gids=(44, 45), intel_rdt=silver
    )


def test_a_file_is_json_that_people_can_read() -> None:
    """In lines, in every script; what YAML does not take as it is, is written as a number."""
    assert file_text({"kind": "加速器\x7f"}) == '{\n  "kind": "加速器\\u007f"\n}\n'


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(drawn=specs)
def test_every_spec_is_right_and_survives_its_file(drawn: Spec) -> None:
    """Whatever is built of valid values passes the rules, and YAML reads back what was meant."""
    document = drawn.document()
    assert check(document) == []
    assert yaml.load(file_text(document), SafeLoader) == document  # noqa: S506 - it is safe


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(vendors, vendors, st.dictionaries(device_names, device_edits, min_size=1), common_edits)
def test_every_build_has_all_units(
    vendor: str, class_: str, devices: dict[str, Edits], common: Edits
) -> None:
    """Each unit keeps its edits, and there is one device more."""
    built = build(vendor, class_, devices, common)
    by_name = {device.name: device.edits for device in built.devices}
    assert by_name == {"all": merged(devices.values())} | devices
    assert len(built.devices) == len(by_name)
