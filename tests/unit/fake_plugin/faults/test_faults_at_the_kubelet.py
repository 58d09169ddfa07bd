"""What a kubelet makes of each fault: the words in a pod's status, and what it holds up."""

import re
import threading
from collections.abc import Callable

import pytest

from fake_plugin.faults.fault import Call, Delay, Effect, Fail, Fault, Hang, Wrong
from lab.embedded.kubelet.device_manager import DeviceManager
from lab.embedded.kubelet.pod import Container, Pod
from lab.embedded.kubelet.rejection import Rejection
from tests.unit.fake_plugin.conftest import RESOURCE
from tests.unit.fake_plugin.faults.conftest import StartFaulty
from tests.unit.fake_plugin.kubelet import sockets_told, wait_for_devices
from tests.unit.waiting import wait_until

Admit = Callable[[str], Rejection | None]


@pytest.fixture
def admit(kubelet: DeviceManager) -> Admit:
    """Return what has a pod of that UID ask for one device."""
    return lambda uid: kubelet.admit(Pod(uid, uid, (Container("app", {RESOURCE: 1}),)))


def once(call: Call, effect: Effect) -> Fault:
    """Return a rule about the first such call."""
    return Fault("fleet-1", call, effect, nth=1)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (once("Allocate", Fail("busy")), "rpc error: code = Unknown desc = busy"),
        (
            once("Allocate", Fail("away", "UNAVAILABLE")),
            "rpc error: code = Unavailable desc = away",
        ),
        (once("Allocate", Wrong("empty")), "no containers return in allocation response"),
        (once("Allocate", Wrong("too-few")), "no containers return in allocation response"),
        (
            once("GetPreferredAllocation", Fail("no idea")),
            "device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown",
        ),
    ],
)
def test_a_pod_is_rejected_once(
    kubelet: DeviceManager, start_faulty: StartFaulty, admit: Admit, fault: Fault, words: str
) -> None:
    """In the kubelet's words around the plugin's; the next pod gets its device."""
    start_faulty(fault)
    wait_for_devices(kubelet, RESOURCE, 2)
    rejection = admit("first")
    assert rejection
    assert rejection.reason == "UnexpectedAdmissionError"
    assert re.match(rf"Allocate failed due to {re.escape(words)}", rejection.message)
    assert admit("second") is None


@pytest.mark.parametrize(
    ("call", "effect"),
    [
        ("Allocate", Delay(0.02)),
        ("Allocate", Wrong("too-many")),
        ("Allocate", Wrong("unknown-device")),
        ("GetPreferredAllocation", Wrong("empty")),
        ("GetPreferredAllocation", Wrong("unknown-device")),
        ("GetPreferredAllocation", Wrong("too-many")),
        ("GetPreferredAllocation", Wrong("too-few")),
    ],
)
def test_a_kubelet_survives_an_answer_that_is_late_or_wrong(
    kubelet: DeviceManager, start_faulty: StartFaulty, admit: Admit, call: Call, effect: Effect
) -> None:
    """Each pod is admitted, and has one device of its own."""
    start_faulty(Fault("fleet-1", call, effect))
    wait_for_devices(kubelet, RESOURCE, 2)
    assert [admit("first"), admit("second")] == [None, None]
    held = [kubelet.devices(uid, "app")[RESOURCE] for uid in ("first", "second")]
    assert [len(each) for each in held] == [1, 1]
    assert not held[0] & held[1]


def test_a_call_that_hangs_holds_up_every_pod_of_the_node(
    kubelet: DeviceManager, start_faulty: StartFaulty, admit: Admit
) -> None:
    """One that asks for no device as well (kubernetes/kubernetes#117435), until the rule goes."""
    plugin = start_faulty(Fault("fleet-1", "Allocate", Hang(), nth=1))
    wait_for_devices(kubelet, RESOURCE, 2)
    admitted: list[Rejection | None] = []
    pods = [
        threading.Thread(target=lambda: admitted.append(admit("first"))),
        threading.Thread(target=lambda: admitted.append(kubelet.admit(Pod("plain", "plain", ())))),
    ]
    pods[0].start()
    held = plugin.switchboard.journal.open_calls
    wait_until("the call", lambda: any(each["call"] == "Allocate" for each in held()))
    pods[1].start()
    assert admitted == []
    plugin.switchboard.book.clear()
    for pod in pods:
        pod.join(10)
    assert admitted == [None, None]


@pytest.mark.parametrize(
    ("kind", "count"), [("empty", 0), ("too-few", 1), ("unknown-device", 2), ("too-many", 3)]
)
def test_a_wrong_list_is_believed_until_the_fault_is_gone(
    kubelet: DeviceManager, start_faulty: StartFaulty, kind: str, count: int
) -> None:
    """The kubelet knows of no other devices than those that it is told of, and that it was told."""
    answers = {each: Wrong(each) for each in ("empty", "too-few", "unknown-device", "too-many")}
    plugin = start_faulty(Fault("fleet-1", "ListAndWatch", answers[kind]))
    wait_for_devices(kubelet, RESOURCE, count)
    plugin.switchboard.book.clear()
    wait_for_devices(kubelet, RESOURCE, 2)
    assert len(sockets_told(kubelet)) == 1
