"""A node's figures over kills, storms of health and changed fleets, as reported in public."""

from dataclasses import replace

from fake_plugin.hardware.breakage import Breakage
from fake_plugin.plan import Share
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Pod
from tests.unit.fake_plugin.conftest import RESOURCE, StartPlugin
from tests.unit.fake_plugin.kubelet import wait_for_devices
from tests.unit.fake_plugin.vendors.pools import H100, MI300X, cut, pool

GPU, AMD, MIG = "nvidia.com/gpu", "amd.com/gpu", "nvidia.com/mig-1g.10gb"
SLICES = ("1g.10gb",) * 7


def chapter(count: int) -> Share:
    """Return a pool of plain devices."""
    return Share("chapter", "chapter-0", count, resource=RESOURCE)


def pod(uid: str, count: int) -> Pod:
    """Return a pod that needs so many plain devices."""
    return Pod(uid, uid, (Container("app", {RESOURCE: count}),))


def shown(kubelet: DeviceManager, resource: str) -> tuple[int, int]:
    """Return capacity and allocatable, 0 where there is no key."""
    kubelet.tick()
    status = kubelet.status
    return status.capacity.get(resource, 0), status.allocatable.get(resource, 0)


def test_a_restarted_plugin_lists_what_pods_hold(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """8 of 8 and then 10 of 10, though pods hold 6 (sriov-network-device-plugin#565)."""
    plugin = start_plugin(chapter(8))
    wait_for_devices(kubelet, RESOURCE, 8)
    assert kubelet.admit(pod("u", 6)) is None
    for count in (8, 10):
        plugin.stop()
        plugin = start_plugin(chapter(count))
        wait_for_devices(kubelet, RESOURCE, count)
        assert [shown(kubelet, RESOURCE) for _ in range(20)] == [(count, count)] * 20
    assert len(kubelet.devices("u", "app")[RESOURCE]) == 6
    assert kubelet.admit(pod("v", 4)) is None


def test_a_storm_of_health_evicts_nobody(kubelet: DeviceManager, start_plugin: StartPlugin) -> None:
    """Its last state holds for the node, and the pod runs on (kubernetes#60388, #79228)."""
    plugin = start_plugin(chapter(2))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert kubelet.admit(pod("u", 1)) is None
    (held,) = kubelet.devices("u", "app")[RESOURCE]
    units = {device.id: device.unit for device in plugin.inventory.resources[0].devices}
    for _ in range(101):
        plugin.inventory.board.toggle_units([units[held]], Breakage("xid", "79"))
    wait_for_devices(kubelet, RESOURCE, 1)
    assert shown(kubelet, RESOURCE) == (2, 1)
    plugin.inventory.board.mend_units([units[held]])
    wait_for_devices(kubelet, RESOURCE, 2)
    assert shown(kubelet, RESOURCE) == (2, 2)
    assert [each.uid for each in kubelet.roster.active()] == ["u"]


def test_slices_of_an_earlier_strategy_are_none(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """From mixed to single the old key stays with 0 (k8s-device-plugin#397, nos#25)."""
    plugin = start_plugin(pool(H100, 1, partitions=cut("mixed", {0: SLICES})))
    wait_for_devices(kubelet, MIG, 7)
    plugin.stop()
    start_plugin(pool(H100, 1, partitions=cut("single", {0: SLICES})))
    wait_for_devices(kubelet, GPU, 7)
    assert shown(kubelet, GPU) == (7, 7)
    assert shown(kubelet, MIG)[1] == 0


def test_the_loss_of_one_vendor_is_its_own(
    kubelet: DeviceManager, start_plugin: StartPlugin
) -> None:
    """The other's figures are the same at every look (akash-network/support#142)."""
    nvidia = start_plugin(pool(H100, 4))
    start_plugin(replace(pool(MI300X, 4), pool="amd", member="amd-0"))
    wait_for_devices(kubelet, AMD, 4)
    client = wait_for_devices(kubelet, GPU, 4)
    nvidia.stop()
    assert client.ended.wait(10)
    assert [shown(kubelet, GPU) for _ in range(20)] == [(4, 0)] * 20
    assert [shown(kubelet, AMD) for _ in range(20)] == [(4, 4)] * 20
