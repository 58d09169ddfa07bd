"""How long a device is lost that an empty answer to Allocate has cost, and what brings it back."""

from collections.abc import Callable
from typing import Final

import pytest

from fake_plugin.faults.fault import Fail, Fault, Wrong
from fake_plugin.plugin import Plugin
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Pod
from tests.unit.fake_plugin.conftest import RESOURCE
from tests.unit.fake_plugin.faults.conftest import StartFaulty
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices
from tests.unit.waiting import wait_until

LOST: Final = "no containers return in allocation response"


def refusal(kubelet: DeviceManager, uid: str, count: int = 1) -> str:
    """Have a pod ask for devices; return why it was rejected, "" where it was not."""
    rejection = kubelet.admit(Pod(uid, uid, (Container("app", {RESOURCE: count}),)))
    return rejection.message if rejection else ""


def restart_kubelet(kubelet: DeviceManager, _: Plugin) -> None:
    """Have another kubelet begin with what the first has written down."""
    kubelet.restart()
    wait_for_devices(kubelet, RESOURCE, 2)


def fail_allocate(kubelet: DeviceManager, plugin: Plugin) -> None:
    """Have an Allocate of another pod fail with an error."""
    plugin.switchboard.book.add("Allocate", Fail("busy"), nth=1)
    assert "busy" in refusal(kubelet, "unlucky")


def end_holder(kubelet: DeviceManager, _: Plugin) -> None:
    """Have another pod get a device, and be over."""
    assert not refusal(kubelet, "holder")
    kubelet.remove("holder")


def clear_faults(_: DeviceManager, plugin: Plugin) -> None:
    """Do as `gpulab inject clear` does."""
    assert plugin.switchboard.book.clear() == 1


def register_again(kubelet: DeviceManager, plugin: Plugin) -> None:
    """Do as `gpulab inject remove-socket` does, or as a restart of the plugin."""
    plugin.remove_socket(RESOURCE)
    wait_until("another Register", lambda: len(sockets_told(kubelet)) == 2)
    wait_for_devices(kubelet, RESOURCE, 2)


@pytest.mark.parametrize(
    ("then", "lacking"),
    [
        (restart_kubelet, ""),
        (fail_allocate, ""),
        (end_holder, ""),
        (clear_faults, "Requested: 2, Available: 1"),
        (register_again, "Requested: 2, Available: 1"),
    ],
)
def test_a_device_is_lost_until_the_kubelet_counts_again(
    kubelet: DeviceManager,
    start_faulty: StartFaulty,
    then: Callable[[DeviceManager, Plugin], None],
    lacking: str,
) -> None:
    """No pod holds it, and what is done to the plugin does not bring it back."""
    plugin = start_faulty(Fault("fleet-1", "Allocate", Wrong("empty"), nth=1))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert LOST in refusal(kubelet, "first")
    assert kubelet.known.allocatable == {RESOURCE: 2}
    then(kubelet, plugin)
    told = refusal(kubelet, "second", 2)
    assert lacking in told
    assert bool(told) == bool(lacking)
