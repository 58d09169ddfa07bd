"""Names of resources, at all three places that look at one: plugin, lab and kubelet.

Public bugs: networkservicemesh/networkservicemesh#100, koordinator-sh/koordinator#1025.
"""

from pathlib import Path

import pytest

from fake_plugin.errors import WrongUse
from fake_plugin.fleet.reading import read_plan
from fake_plugin.plan import Share
from lab.core.fleet import FleetError, load_fleet
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices

DOMAIN = "needs a vendor domain before a slash, as in example.com/device"
PART = "the part after the slash must have 1 to 63 characters: letters, digits"


def fleet_of(tmp_path: Path, resource: str) -> Path:
    """Return a fleet file whose one pool has that resource."""
    file = tmp_path / "fleet.yaml"
    pool = f'{{name: p, nodes: 1, resource: "{resource}", count: 2}}'
    file.write_text(f"apiVersion: gpu-lab/v1\nkind: Fleet\npools: [{pool}]\n")
    return file


@pytest.mark.parametrize(
    ("resource", "rule"),
    [
        ("gpu", DOMAIN),
        ("kubernetes.io/gpu", "must not be under kubernetes.io"),
        ("requests.nvidia.com/gpu", 'must not start with "requests."'),
        ("nvidia.com/", PART),
        ("nvidia.com/mig-1g.10gb+me", PART),
        ("Huawei.com/Ascend910", "lower-case"),
        (f"nvidia.com/{'x' * 64}", PART),
    ],
)
def test_a_bad_name_is_refused_with_its_rule(tmp_path: Path, resource: str, rule: str) -> None:
    """By the plugin and by the lab alike, before any kubelet sees it."""
    file = fleet_of(tmp_path, resource)
    with pytest.raises(WrongUse) as refused:
        read_plan(file, "p-0")
    with pytest.raises(FleetError) as found:
        load_fleet(file)
    assert rule in str(refused.value)
    assert rule in str(found.value)


@pytest.mark.parametrize(
    "resource",
    [
        "huawei.com/Ascend910",
        "amd.com/cpx_nps4",
        "nvidia.com/mig-1g.10gb.me",
        f"nvidia.com/{'x' * 63}",
    ],
)
def test_a_good_name_is_one_everywhere(
    kubelet: DeviceManager, start_plugin: StartPlugin, tmp_path: Path, resource: str
) -> None:
    """Upper case is fine behind the slash; the node has the key."""
    file = fleet_of(tmp_path, resource)
    assert [dict(node.devices) for node in load_fleet(file).nodes()] == [{resource: 2}]
    assert read_plan(file, "p-0").shares == (Share("p", "p-0", 2, resource=resource),)
    start_plugin(Share("p", "p-0", 2, resource=resource))
    wait_for_devices(kubelet, resource, 2)
    kubelet.tick()
    assert kubelet.status.allocatable == {resource: 2}
