"""A fault that is gone no longer keeps the plugin waiting for what it broke."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest

from fake_plugin.faults.fault import Delay, Drop, Fail, Fault, Hang
from fake_plugin.serving.backoff import Pace
from lab.embedded.kubelet.device_manager import DeviceManager
from tests.unit.fake_plugin.conftest import RESOURCE, RESTLESS, TIMING, Said
from tests.unit.fake_plugin.faults.conftest import StartFaulty
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices
from tests.unit.waiting import wait_until

#: Longer than a test waits, after one failure.
_LONG: Final = Pace(60, 60)
PATIENT: Final = replace(TIMING, settled=60.0, unreachable=_LONG, refused=_LONG)


@pytest.mark.parametrize(
    ("fault", "event"),
    [
        (Fault("fleet-1", "Register", Fail("no")), "refused"),
        (Fault("fleet-1", "GetDevicePluginOptions", Fail("no")), "refused"),
        (Fault("fleet-1", "ListAndWatch", Fail("no")), "registration-lost"),
        (Fault("fleet-1", "ListAndWatch", Drop(0)), "registration-lost"),
    ],
)
def test_what_a_fault_broke_is_tried_again_once_it_is_gone(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said, fault: Fault, event: str
) -> None:
    """The pause after a failure is over: whoever removes a fault wants the resource back."""
    plugin = start_faulty(fault, timing=PATIENT)
    wait_until("the failure", lambda: bool(said(event)))
    assert plugin.switchboard.book.remove("fleet-1")
    wait_for_devices(kubelet, RESOURCE, 2)
    assert len(sockets_told(kubelet)) == 2


def test_all_faults_that_are_cleared_are_forgiven(
    kubelet: DeviceManager, start_faulty: StartFaulty, said: Said
) -> None:
    """Also the one that was spent: the resource still waits for what it did."""
    plugin = start_faulty(Fault("fleet-1", "Register", Fail("no"), nth=1), timing=PATIENT)
    wait_until("the failure", lambda: bool(said("refused")))
    assert plugin.switchboard.book.clear() == 1
    wait_for_devices(kubelet, RESOURCE, 2)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("fleet-1", "ListAndWatch", Fail("no")),
        Fault("fleet-1", "Allocate", Hang()),
        Fault("fleet-1", "Register", Delay(0)),
    ],
)
def test_a_fault_that_broke_nothing_hurries_nothing(
    kubelet: DeviceManager,
    start_faulty: StartFaulty,
    said: Said,
    wait_for_passes: Callable[[], None],
    fault: Fault,
) -> None:
    """A kubelet that refused by itself is not asked again for it."""
    kubelet.misbehaviour.refuses = "no"
    plugin = start_faulty(fault, timing=replace(RESTLESS, refused=_LONG))
    wait_until("the refusal", lambda: bool(said("refused")))
    assert plugin.switchboard.book.remove("fleet-1")
    wait_for_passes()
    assert len(sockets_told(kubelet)) == 1
