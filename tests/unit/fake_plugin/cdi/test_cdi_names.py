"""Names of devices and the annotations that ask for them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_plugin.cdi.names import WrongName, annotations, qualified_name
from fake_plugin.cdi.rules import check
from tests.unit.fake_plugin.cdi.drawn import device_names, vendors
from tests.unit.fake_plugin.cdi.verdicts import spec

GPU = "nvidia.com/gpu=GPU-1"


def test_a_qualified_name_has_three_parts() -> None:
    """It is what a runtime is asked for."""
    assert qualified_name("nvidia.com", "gpu", "GPU-1") == GPU
    assert qualified_name("huawei.com", "npu", "0000:3b:00.0") == "huawei.com/npu=0000:3b:00.0"


@pytest.mark.parametrize(
    ("vendor", "class_", "device", "said"),
    [
        ("", "gpu", "a", "must have a vendor of"),
        ("n", "gpu", "a", "must have a vendor of"),
        ("nvidia.com/x", "gpu", "a", "must have a class of"),
        ("nvidia.com", "gpu=", "a", "must have a class of"),
        ("nvidia.com", "gpu", "", "the CDI name '': must have letters, digits"),
        ("nvidia.com", "gpu", "a/b", "the CDI name 'a/b': must have letters, digits"),
        ("nvidia.com", "gpu", "a,b", "the CDI name 'a,b': must have letters, digits"),
    ],
)
def test_a_wrong_name_is_refused(vendor: str, class_: str, device: str, said: str) -> None:
    """The error holds the part and its rule."""
    with pytest.raises(WrongName) as caught:
        qualified_name(vendor, class_, device)
    assert said in str(caught.value)


def test_an_annotation_names_devices() -> None:
    """The key holds plugin and allocation, the value the devices in order."""
    names = [GPU, "nvidia.com/gpu=GPU-0"]
    assert annotations("nvidia-device-plugin", "5e6a", names) == {
        "cdi.k8s.io/nvidia-device-plugin_5e6a": "nvidia.com/gpu=GPU-1,nvidia.com/gpu=GPU-0"
    }


def test_a_slash_of_an_allocation_becomes_an_underscore() -> None:
    """The key of an annotation has room for one slash, and it is taken."""
    assert list(annotations("a.b", "ns/pod", [GPU])) == ["cdi.k8s.io/a.b_ns_pod"]


@pytest.mark.parametrize(
    ("plugin", "allocation", "names", "said"),
    [
        ("", "1", [GPU], "'_1': must be a plugin and an ID"),
        ("a", "", [GPU], "'a_': must be a plugin and an ID"),
        ("a", "1:2", [GPU], "'a_1:2': must be a plugin and an ID"),
        ("-a", "1", [GPU], "'-a_1': must be a plugin and an ID"),
        ("a", "1/", [GPU], "'a_1_': must be a plugin and an ID"),
        ("a" * 32, "1" * 31, [GPU], "has 64 characters, at most 63"),
        ("a", "1", [], "'a_1': must name a device"),
        ("a", "1", ["GPU-1"], "'GPU-1': must be a kind and a device"),
        ("a", "1", ["nvidia.com/gpu="], "the CDI name '': must have letters"),
        ("a", "1", [f"{GPU},{GPU}"], "must have letters, digits"),
    ],
)
def test_a_wrong_annotation_is_refused(
    plugin: str, allocation: str, names: list[str], said: str
) -> None:
    """A runtime fails the container for it, long after the plugin could say why."""
    with pytest.raises(WrongName) as caught:
        annotations(plugin, allocation, names)
    assert said in str(caught.value)


def test_the_longest_annotation_is_taken() -> None:
    """The name part of the key has 63 characters, without the prefix."""
    (key,) = annotations("a" * 31, "1" * 31, [GPU])
    assert len(key) == len("cdi.k8s.io/") + 63


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(vendors, vendors, device_names)
def test_a_valid_name_is_valid_in_a_spec(vendor: str, class_: str, device: str) -> None:
    """What can be asked for and what can be defined are the same names."""
    assert qualified_name(vendor, class_, device) == f"{vendor}/{class_}={device}"
    named = [{"name": device, "containerEdits": {"env": ["A=b"]}}]
    assert check(spec(kind=f"{vendor}/{class_}", devices=named)) == []


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=5))
def test_any_other_name_is_invalid_in_both(device: str) -> None:
    """A name is refused where it is asked for if and only if it is refused in a spec."""
    named = [{"name": device, "containerEdits": {"env": ["A=b"]}}]
    is_valid = not check(spec(devices=named))
    try:
        qualified_name("nvidia.com", "gpu", device)
    except WrongName:
        assert not is_valid
    else:
        assert is_valid
